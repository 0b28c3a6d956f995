"use strict";
(() => {
  const { table, tables, csv, save, element, number, percent } = window.kiwicha;
  const page = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const at = (id) => document.getElementById(id);
  const text = (value) => value;
  const field = (title, name, extra = {}) => ({ title, value: (row) => row[name], ...extra });
  const colours = page.colours;
  const isNarrow = () => window.innerWidth < 600;
  let shown = null;

  // A bar of parts: its whole width stands for `most`.
  function bar(parts, most) {
    const made = element("div", undefined, { class: "bar" });
    for (const part of parts) {
      const piece = element("span", undefined, { title: `${part.cause}: ${number(part.cycles)}` });
      piece.style.background = colours[part.cause];
      piece.style.width = `${100 * part.cycles / most}%`;
      made.append(piece);
    }
    return made;
  }

  // Runs of a model stand together, in the order in which the models first come.
  const together = (rows) => [...Map.groupBy(rows, (row) => row.model).values()].flat();

  function showRuns() {
    const isTwice = page.runs.some((run) => run.mark);
    const most = {};
    for (const { totals } of page.runs)
      most[totals.model] = Math.max(most[totals.model] || 0, totals.cycles);
    table("runs", [
      field("model", "model", { text, kind: "short" }),
      field("config", "config", { text, kind: "short" }),
      ...(isTwice ? [field("file", "mark", { text })] : []),
      field("cycles", "cycles"),
      { title: "", kind: "bars", value: () => "",
        cell: (row) => bar(row.parts, most[row.model]) },
      field("against the first", "ratio", { text: () => "", kind: "short",
        cell: (row) => row.faster && `${row.faster} than ${row.against}` }),
      field("ms", "milliseconds"),
      field("MACs/cycle", "macs_per_cycle", { worst: "low" }),
      field("utilization", "utilization", { text: percent, worst: "low" }),
      field("predicted", "predicted"),
      field("off by", "off_by", { text: percent, key: (row) => Math.abs(row.off_by) }),
      { title: "bit-exact", text,
        value: (row) => (row.bit_exact === null ? "-" : row.bit_exact ? "yes" : "NO") },
    ], together(page.runs.map((run) => ({ ...run.totals, mark: run.mark }))));
    const causes = new Set(page.runs.flatMap((run) => run.totals.parts.map((part) => part.cause)));
    at("legend").replaceChildren(...Object.keys(colours).filter((c) => causes.has(c)).map((cause) => {
      const item = element("li");
      const square = element("i");
      square.style.background = colours[cause];
      item.append(square, cause);
      return item;
    }));
  }

  // A column for each sort of part that the bars of a chart have.
  function partColumns(chart, parts, kind, unit, group) {
    const sizes = new Map(parts.map((part) => [`${part.label} ${part[kind]}`, part[unit]]));
    return legend(page.charts[chart], parts, kind).map((name) => ({ title: name, group,
      isPart: true, total: "sum", value: (row) => sizes.get(`${row.label} ${name}`) || 0 }));
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

  function reason(row) {
    const button = element("button", row.why, { type: "button", "aria-expanded": "false" });
    button.addEventListener("click", () => {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!isOpen));
    });
    return button;
  }

  function layerColumns(run) {
    const has = (name) => run.layers.some((layer) => layer[name] !== null);
    const most = Math.max(...run.layers.map((layer) => layer.cycles));
    const parts = Map.groupBy(run.cycles, (part) => part.label);
    const columns = [
      field("#", "index", { group: "layer", kind: "frozen index", worst: "low" }),
      field("operator", "op", { group: "layer", text, kind: "frozen operator",
        hint: (row) => row.op, total: "all layers" }),
      field("cycles", "cycles", { group: "cycles", total: "sum" }),
      field("share", "share", { group: "cycles", text: percent, total: "sum" }),
      field("mostly", "cause", { group: "cycles", text, kind: "small", cell: (row) => {
        const made = bar(parts.get(row.label) || [], most);
        made.title = row.cause;
        return made;
      } }),
    ];
    if (has("predicted")) columns.push(
      field("predicted", "predicted", { group: "cycles", total: "sum" }),
      field("off by", "off_by", { group: "cycles", text: percent,
        key: (row) => (row.off_by === null ? null : Math.abs(row.off_by)),
        total: run.totals.off_by }));
    columns.push(field("where", "where", { group: "execution", text, kind: "where" }));
    if (run.is_split) columns.push(
      field("why there", "why", { group: "execution", text, kind: "why", cell: reason }));
    if (run.is_split)
      columns.push(...partColumns("cycles", run.cycles, "cause", "cycles", "cycles by cause"));
    if (run.layers.some((layer) => layer.shape))
      columns.push(field("output", "shape", { group: "work", text, kind: "short" }));
    columns.push(field("MACs", "macs", { group: "work", total: "sum" }),
      field("MACs/cycle", "macs_per_cycle", { group: "work", worst: "low",
        total: run.totals.macs_per_cycle }));
    if (run.traffic) columns.push(
      field("MACs/byte", "macs_per_byte", { group: "work", worst: "low" }),
      field("all", "dram_bytes", { group: "DRAM bytes", isPart: true, total: "sum" }),
      ...partColumns("traffic", run.traffic, "sort", "bytes", "DRAM bytes"));
    run.others.forEach((other, place) => columns.push(
      { title: "cycles", group: other.name, isPart: true, total: "sum",
        value: (row) => row.others[place] },
      { title: "ratio", group: other.name, isPart: true, value: (row) =>
        (row.cycles && row.others[place] ? row.others[place] / row.cycles : null) }));
    return columns;
  }

  function showLayers(run) {
    table("layers", layerColumns(run), run.layers.map((layer, k) =>
      ({ ...layer, others: run.others.map((other) => other.cycles[k]) })), { hasTotals: true });
  }

  // Colours of the page, or those of paper, for a chart.
  function palette(isPaper) {
    if (isPaper) return { ink: "#1b1b1f", soft: "#5c5f66", line: "#d5d8de" };
    const style = getComputedStyle(document.body);
    return Object.fromEntries(["ink", "soft", "line"].map((name) =>
      [name, style.getPropertyValue(`--${name}`).trim()]));
  }

  function theme({ ink, line }, isNarrowChart) {
    const style = getComputedStyle(document.body);
    const size = parseFloat(style.fontSize);
    const font = style.fontFamily;
    return {
      font, background: "transparent", view: { stroke: line },
      axis: { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line,
        tickColor: line, labelFontSize: size, titleFontSize: size },
      legend: { labelColor: ink, titleColor: ink, labelFontSize: size, titleFontSize: size,
        labelLimit: 300, columns: isNarrowChart ? 1 : 4 },
      text: { fontSize: size }, tick: { color: ink },
    };
  }

  // Names only what the chart shows in its legend.
  function legend(chart, rows, kind) {
    const there = new Set(rows.map((row) => row[kind]));
    return chart.layer.map((layer) => layer.encoding.color).find((found) => found && found.field)
      .scale.domain.filter((name) => there.has(name));
  }

  const drawings = {};

  function specification(name, isPaper) {
    const { datasets, kind } = drawings[name];
    const own = palette(isPaper);
    const filled = JSON.stringify(page.charts[name])
      .replaceAll('"@ink"', `"${own.ink}"`).replaceAll('"@soft"', `"${own.soft}"`);
    const spec = { ...JSON.parse(filled), datasets };
    if (kind) {
      const rows = datasets.parts || datasets.points;
      for (const layer of spec.layer) {
        if (layer.encoding.color) layer.encoding.color.legend.values = legend(spec, rows, kind);
      }
    }
    if (datasets.few && isNarrow() && !isPaper)
      spec.datasets = { ...datasets, numbers: datasets.few };
    if (isPaper) spec.width = 1000;
    else if (isNarrow() && datasets.parts) {
      // The number alone: the table beside has the name.
      for (const layer of spec.layer) layer.encoding.y.axis.labelExpr = "split(datum.label, ' ')[0]";
    }
    return { spec, config: theme(own, isNarrow() && !isPaper) };
  }

  async function draw(name, datasets, kind) {
    const figure = at(`figure-${name}`);
    figure.hidden = !datasets;
    if (!datasets) return;
    drawings[name] = { datasets, kind };
    const { spec, config } = specification(name, false);
    await window.vegaEmbed(`#chart-${name}`, spec,
      { actions: false, renderer: "svg", config, ast: true });
  }

  async function svg(name) {
    const { spec, config } = specification(name, true);
    const place = element("div");
    const { view } = await window.vegaEmbed(place, spec, { actions: false, renderer: "svg",
      config: { ...config, background: "white" }, ast: true });
    const made = await view.toSVG();
    view.finalize();
    return made;
  }

  let drawn = Promise.resolve();
  function show() {
    const run = page.runs[Number(at("run").value)];
    const total = run.totals;
    shown = run.name;
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
    at("facts").replaceChildren(...Object.entries(run.facts).map(([name, value]) => {
      const made = element("div");
      made.append(element("dt", name), element("dd", value));
      return made;
    }));
    at("summary").replaceChildren(...run.summary.map((line) => element("li", line)));
    showLayers(run);
    showTensors(run);
    const memory = run.memory || {};
    const map = (place) => memory[place] && { tensors: memory[place].tensors,
      capacity: [memory[place].capacity] };
    for (const place of ["scratchpad", "arena"])
      at(`says-${place}`).textContent = memory[place] ? memory[place].text : "";
    const roofline = run.roofline && run.roofline.points.length ? run.roofline : undefined;
    drawn = drawn.then(() => Promise.all([
      draw("cycles", { parts: run.cycles, layers: run.layers }, "cause"),
      draw("traffic", run.traffic && { parts: run.traffic }, "sort"),
      draw("roofline", roofline, "cause"),
      draw("scratchpad", map("scratchpad")),
      draw("arena", map("arena")),
    ])).then(() => { document.body.dataset.drawn = run.name; });
  }

  function showStudy() {
    const study = page.study;
    const columns = [field("config", "config", { text }),
      field("", "front", { text, kind: "short" }), field("cycles", "cycles"),
      ...["lut", "dsp", "bram"].map((name) => field(study.titles[name], name))];
    if (study.rows.some((row) => row.simulated !== null))
      columns.push(field("simulated", "simulated"));
    table("configurations", columns, study.rows);
    at("of-misfits").hidden = !study.misfits.length;
    table("misfits", [field("config", "config", { text }),
      field("does not fit", "reason", { text })], study.misfits);
    return draw("front", { trials: study.rows });
  }

  const everything = () => {
    if (page.study) drawn = drawn.then(showStudy);
    if (page.runs.length) show();
    else drawn = drawn.then(() => { document.body.dataset.drawn = "study"; });
  };
  const named = (name) => `kiwicha ${shown || "study"} ${name}`.replaceAll(/[^\w.-]+/g, "-");
  for (const button of document.querySelectorAll("[data-csv]"))
    button.addEventListener("click", () =>
      save(`${named(button.dataset.csv)}.csv`, csv(button.dataset.csv), "text/csv"));
  for (const button of document.querySelectorAll("[data-svg]"))
    button.addEventListener("click", async () =>
      save(`${named(button.dataset.svg)}.svg`, await svg(button.dataset.svg), "image/svg+xml"));
  dark.addEventListener("change", everything);
  if (page.runs.length) {
    page.runs.forEach((run, k) => at("run").append(element("option", run.name, { value: k })));
    at("run").addEventListener("change", show);
    at("order").addEventListener("click", () => tables.layers.restore());
    showRuns();
  }
  everything();
})();
