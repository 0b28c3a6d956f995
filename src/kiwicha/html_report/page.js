"use strict";
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const at = (id) => document.getElementById(id);
  const whole = new Intl.NumberFormat("en");
  const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const number = (value) => (value === null || value === undefined ? "" :
    Number.isInteger(value) ? whole.format(value) : short.format(value));
  const percent = (value) => (value === null || value === undefined ? "" :
    `${tenths.format(100 * value)} %`);

  function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  // Columns: title, value to sort by, text. Rows are objects.
  function table(place, columns, rows) {
    const made = element("table");
    const head = made.createTHead().insertRow();
    const body = made.createTBody();
    const fill = (shown) => {
      body.replaceChildren(...shown.map((row) => {
        const line = element("tr");
        for (const column of columns) {
          const value = column.value(row);
          const isNumber = typeof value === "number" || value === null;
          line.append(element("td", (column.text || number)(value),
            { class: column.kind || (isNumber ? "number" : "") }));
        }
        return line;
      }));
    };
    for (const column of columns) {
      const cell = element("th", undefined, { scope: "col" });
      const button = element("button", column.title, { type: "button" });
      if (rows.length && typeof column.value(rows[0]) === "number") cell.className = "number";
      button.addEventListener("click", () => {
        const up = cell.getAttribute("aria-sort") !== "ascending";
        for (const other of head.cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", up ? "ascending" : "descending");
        const order = (a, b) => (a === b ? 0 : a === null ? 1 : b === null ? -1 :
          typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en"));
        const sorted = rows.slice().sort((a, b) => order(column.value(a), column.value(b)));
        fill(up ? sorted : sorted.reverse());
      });
      cell.append(button);
      head.append(cell);
    }
    fill(rows);
    at(place).replaceChildren(made);
  }

  const text = (value) => value;
  const field = (title, name, extra = {}) => ({ title, value: (row) => row[name], ...extra });

  function showRuns() {
    const isTwice = page.runs.some((run) => run.mark);
    table("runs", [
      field("model", "model", { text }), field("config", "config", { text }),
      ...(isTwice ? [field("file", "mark", { text })] : []),
      field("cycles", "cycles"), field("ms", "milliseconds"), field("MACs", "macs"),
      field("MACs/cycle", "macs_per_cycle"),
      field("utilization", "utilization", { text: percent }),
      field("predicted", "predicted"), field("off by", "off_by", { text: percent }),
      field("ratio", "ratio"),
      { title: "bit-exact", text,
        value: (row) => (row.bit_exact === null ? "-" : row.bit_exact ? "yes" : "NO") },
    ], page.runs.map((run) => ({ ...run.totals, mark: run.mark })));
  }

  // A column for each sort of part that the bars of a chart have.
  function partColumns(chart, parts, kind, unit, title) {
    const sizes = new Map(parts.map((part) => [`${part.label} ${part[kind]}`, part[unit]]));
    return legend(page.charts[chart], parts, kind).map((name) =>
      ({ title: title(name), value: (row) => sizes.get(`${row.label} ${name}`) || 0 }));
  }

  function showTensors(run) {
    const tensors = Object.entries(run.memory || {}).flatMap(([place, memory]) =>
      memory.tensors.map((tensor) => ({ ...tensor, place })));
    at("of-tensors").hidden = !tensors.length;
    table("tensors", [
      field("tensor", "name", { text }), field("where", "place", { text }),
      field("bytes", "bytes"), field("from byte", "offset"),
      field("from cycle", "start"), field("to cycle", "end"),
    ], tensors);
  }

  function showLayers(run) {
    const has = (name) => run.layers.some((layer) => layer[name] !== null);
    const columns = [field("#", "index"), field("operator", "op", { text })];
    if (run.layers.some((layer) => layer.shape)) columns.push(field("output", "shape", { text }));
    columns.push(field("MACs", "macs"), field("cycles", "cycles"));
    if (run.is_split) columns.push(...partColumns("cycles", run.cycles, "cause", "cycles", text));
    if (has("predicted")) columns.push(field("predicted", "predicted"));
    columns.push(field("MACs/cycle", "macs_per_cycle"));
    if (run.traffic) {
      columns.push(field("MACs/byte", "macs_per_byte"), field("DRAM bytes", "dram_bytes"),
        ...partColumns("traffic", run.traffic, "sort", "bytes", (name) => `DRAM: ${name}`));
    }
    run.others.forEach((other, place) => {
      columns.push({ title: other.name, value: (row) => row.others[place] });
      columns.push({ title: `ratio`, value: (row) =>
        (row.cycles && row.others[place] ? row.others[place] / row.cycles : null) });
    });
    columns.push(field("mostly", "cause", { text }), field("where", "where", { text }));
    if (run.is_split) columns.push(field("why there", "why", { text, kind: "why" }));
    table("layers", columns, run.layers.map((layer, k) =>
      ({ ...layer, others: run.others.map((other) => other.cycles[k]) })));
  }

  function theme() {
    const ink = getComputedStyle(document.body).getPropertyValue("--ink").trim();
    const line = getComputedStyle(document.body).getPropertyValue("--line").trim();
    return {
      background: "transparent", view: { stroke: line },
      axis: { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line,
        tickColor: line }, legend: { labelColor: ink, titleColor: ink,
        columns: window.innerWidth < 600 ? 1 : 4 },
      tick: { color: ink },
    };
  }

  // Names only what the chart shows in its legend.
  function legend(chart, rows, kind) {
    const shown = new Set(rows.map((row) => row[kind]));
    return chart.layer[0].encoding.color.scale.domain.filter((name) => shown.has(name));
  }

  function trimmed(chart, rows, kind) {
    const spec = structuredClone(chart);
    spec.layer[0].encoding.color.legend.values = legend(chart, rows, kind);
    return spec;
  }

  async function draw(name, datasets, kind) {
    const figure = at(`figure-${name}`);
    figure.hidden = !datasets;
    if (!datasets) return;
    const chart = page.charts[name];
    const spec = { ...(kind ? trimmed(chart, datasets.parts, kind) : chart), datasets };
    await window.vegaEmbed(`#chart-${name}`, spec,
      { actions: false, renderer: "svg", config: theme(), ast: true });
  }

  let drawn = Promise.resolve();
  function show() {
    const run = page.runs[Number(at("run").value)];
    const total = run.totals;
    at("cards").replaceChildren(...[
      ["cycles", number(total.cycles)], ["milliseconds", number(total.milliseconds)],
      ["MACs per cycle", number(total.macs_per_cycle)],
      ["of the multipliers", percent(total.utilization)],
      ["prediction off by", percent(total.off_by)],
    ].filter(([, value]) => value).map(([title, value]) => {
      const card = element("li");
      card.append(element("b", value), title);
      return card;
    }));
    at("summary").textContent = run.summary;
    showLayers(run);
    showTensors(run);
    const memory = run.memory || {};
    const tensors = (place) => memory[place] && { tensors: memory[place].tensors };
    drawn = drawn.then(() => Promise.all([
      draw("cycles", { parts: run.cycles, layers: run.layers }, "cause"),
      draw("traffic", run.traffic && { parts: run.traffic }, "sort"),
      draw("roofline", run.points && run.points.length && { points: run.points, roofs: run.roofs }),
      draw("scratchpad", tensors("scratchpad")),
      draw("arena", tensors("arena")),
    ])).then(() => { document.body.dataset.drawn = run.name; });
  }

  function showStudy() {
    const study = page.study;
    at("study").hidden = false;
    at("about-study").textContent = `For one inference each of ${study.models}: cycles by the cycle model, ` +
      "and estimated resources. Click a title to sort.";
    const columns = [field("config", "config", { text }), field("", "front", { text, kind: "short" }),
      field("cycles", "cycles"),
      ...["lut", "dsp", "bram"].map((name) => field(study.titles[name], name))];
    if (study.rows.some((row) => row.simulated !== null))
      columns.push(field("simulated", "simulated"));
    columns.push(field("does not fit", "reason", { text }));
    table("front", columns, study.rows);
    const trials = study.rows.filter((row) => row.cycles !== null);
    return draw("front", { trials });
  }

  page.runs.forEach((run, k) => at("run").append(element("option", run.name, { value: k })));
  at("run").addEventListener("change", show);
  const everything = () => {
    if (page.study) drawn = drawn.then(showStudy);
    if (page.runs.length) show();
    else drawn = drawn.then(() => { document.body.dataset.drawn = "study"; });
  };
  dark.addEventListener("change", everything);
  at("of-runs").hidden = !page.runs.length;
  if (page.runs.length) showRuns();
  everything();
})();
