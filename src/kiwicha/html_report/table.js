"use strict";
// Tables that sort, and are saved as CSV: window.kiwicha.
(() => {
  const whole = new Intl.NumberFormat("en");
  const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const isMissing = (value) => value === null || value === undefined;
  const number = (value) => (isMissing(value) ? "" :
    Number.isInteger(value) ? whole.format(value) : digits.format(value));
  const percent = (value) => (isMissing(value) ? "" : `${tenths.format(100 * value).replace(/^-0$/, "0")} %`);

  function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  const tables = {};

  // Columns: title, group, value to sort by, text, what the total is, and which end is the worst.
  // Rows are objects. A click begins with the worst: high numbers unless `worst` is "low".
  function table(place, columns, rows, { hasTotals = false } = {}) {
    const made = element("table");
    const head = made.createTHead();
    if (columns.some((column) => column.group)) head.append(groups(columns));
    const titles = head.insertRow();
    const body = made.createTBody();
    const kinds = columns.map((column, k) => {
      const isNumber = rows.some((row) => typeof column.value(row) === "number");
      const isFirst = k && column.group && column.group !== columns[k - 1].group;
      return `${column.kind || ""}${isNumber ? " number" : ""}${isFirst ? " first" : ""}`.trim();
    });
    const fill = (shown) => body.replaceChildren(...shown.map((row) => {
      const line = element("tr");
      columns.forEach((column, k) => {
        const cell = element("td", undefined, { class: kinds[k] });
        if (column.cell) cell.append(column.cell(row));
        else cell.textContent = (column.text || number)(column.value(row));
        if (column.hint) cell.title = column.hint(row);
        line.append(cell);
      });
      return line;
    }));
    columns.forEach((column, k) => {
      const cell = element("th", undefined, { scope: "col", class: kinds[k] });
      const button = element("button", column.title, { type: "button" });
      button.addEventListener("click", () => {
        const isHigh = kinds[k].includes("number") && column.worst !== "low";
        const before = cell.getAttribute("aria-sort");
        const up = before ? before === "descending" : !isHigh;
        for (const other of titles.cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", up ? "ascending" : "descending");
        const key = column.key || column.value;
        // What has no value stands last either way.
        fill(rows.slice().sort((a, b) => compare(key(a), key(b), up)));
      });
      cell.append(button);
      titles.append(cell);
    });
    fill(rows);
    if (hasTotals) made.append(totals(columns, kinds, rows));
    document.getElementById(place).replaceChildren(made);
    tables[place] = { columns, rows, restore: () => {
      for (const cell of titles.cells) cell.removeAttribute("aria-sort");
      fill(rows);
    } };
  }

  function compare(a, b, up) {
    if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
    const order = typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en");
    return up ? order : -order;
  }

  function groups(columns) {
    const line = element("tr", undefined, { class: "group" });
    let last;
    columns.forEach((column, k) => {
      if (last && column.group === columns[k - 1].group) last.colSpan += 1;
      else {
        last = element("th", column.group || "", { scope: "colgroup",
          class: k ? "first" : "frozen index" });
        line.append(last);
      }
    });
    return line;
  }

  function totals(columns, kinds, rows) {
    const foot = element("tfoot");
    const line = element("tr");
    columns.forEach((column, k) => {
      const total = column.total === "sum"
        ? rows.reduce((sum, row) => sum + (column.value(row) || 0), 0) : column.total;
      const text = isMissing(total) ? "" :
        typeof total === "number" ? (column.text || number)(total) : total;
      line.append(element("td", text, { class: kinds[k] }));
    });
    foot.append(line);
    return foot;
  }

  const quoted = (value) => {
    const text = isMissing(value) ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  function csv(place) {
    const { columns, rows } = tables[place];
    const named = columns.filter((column) => column.title);
    const title = (column) => (column.isPart ? `${column.group}: ${column.title}` : column.title);
    const lines = [named.map(title), ...rows.map((row) => named.map((c) => c.value(row)))];
    return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
  }

  function save(name, text, type) {
    const link = element("a", undefined, { download: name,
      href: URL.createObjectURL(new Blob([text], { type })) });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  window.kiwicha = { table, tables, csv, save, element, number, percent };
})();
