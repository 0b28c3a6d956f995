// What a run gave: cycles of layers as kiwicha.report.run_report, answers, and failures.
"use strict";

const wordsOf = (raw) => new Uint32Array(raw.slice().buffer);

// Returns the table of cycles: for each inference and step, its cycles and the ends of its jobs.
const cycleTables = (facts, raw) => {
  const words = wordsOf(raw);
  let at = 0;
  return Array.from({ length: facts.inferences }, () =>
    facts.steps.map((step) => {
      const row = words.subarray(at, at + step.words);
      at += step.words;
      return { cycles: row[0], jobEnds: Array.from(row.subarray(1 + facts.counters)) };
    }),
  );
};

// Returns the cycles of each layer in the last inference.
const layerCycles = (facts, tables) => {
  const found = facts.layers.map(() => 0);
  tables[tables.length - 1].forEach(({ cycles, jobEnds }, number) => {
    const step = facts.steps[number];
    if (!step.jobs) {
      found[step.layer] += cycles;
      return;
    }
    // Beside steps of the CPU, what came first counts for those.
    const hidden = step.beside ? Math.max(0, Math.max(...jobEnds) - cycles) : 0;
    const order = step.jobs.map((job, k) => [job.layer, jobEnds[k]]).sort((a, b) => a[1] - b[1]);
    let before = 0;
    for (const [layer, end] of order) {
      const shown = Math.max(0, end - hidden);
      found[layer] += shown - before;
      before = shown;
    }
    found[order[order.length - 1][0]] += cycles - before;
  });
  return found;
};

const ELEMENTS = {
  int8: Int8Array, uint8: Uint8Array, bool: Uint8Array, int16: Int16Array, int32: Int32Array,
  uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array, int64: BigInt64Array,
};

// Returns the largest elements of an output as real numbers, of equal ones the first.
const largest = (tensor, raw, labels, count) => {
  const scale = tensor.scale && tensor.dtype !== "float32" ? tensor.scale : 1;
  const zero = scale === 1 ? 0 : tensor.zero_point;
  const Elements = ELEMENTS[tensor.dtype] ?? Uint8Array;
  const values = Array.from(new Elements(raw.slice().buffer), Number);
  const order = values.map((value, at) => [value, at]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const isNamed = labels.length === values.length;
  return order
    .slice(0, count)
    .map(([value, at]) => [isNamed ? labels[at] : String(at), scale * (value - zero)]);
};

// Returns what a simulation's end means: an error, or everything that the page shows.
const resultsOf = (facts, end) => {
  const [boot, table, ...outputs] = end.dumps;
  const field = (name) => wordsOf(boot)[facts.boot[name] / 4];
  if (end.code !== 0) {
    const step = field("failed_step");
    const where = step < facts.steps.length ? ` in step ${step}` : "";
    throw new Error(`the firmware stopped with status ${end.code}${where}. ${end.uart}`);
  }
  const tables = cycleTables(facts, table);
  return {
    first: field("first_cycles"),
    cycles: field("total_cycles"),
    simulated: end.cycles,
    seconds: end.seconds,
    layers: layerCycles(facts, tables),
    outputs,
    slices: timeline(facts, new Activity(end.activity, facts), tables),
  };
};
