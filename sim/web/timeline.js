// When steps, jobs, stalls and transfers were, as kiwicha.sim.profile.timeline.
"use strict";

const TRACKS = [
  "CPU steps", "engine jobs", "stalls", "weight loads", "DMA reads", "DMA writes",
];
const STALLS = {
  "waits for weights": "waits_weights",
  "waits for activations": "waits_transfers",
  "waits for the requantizer": "waits_requantizer",
};
const MOVES = [
  ["DMA reads", "descriptors", ["reads_jobs", "reads_transfers"]],
  ["DMA reads", "activations", ["reads_data"]],
  ["DMA writes", "activations", ["writes_data"]],
];
// Words of one request come with pauses, refresh included; shorter ones are not shown.
const JOIN_CYCLES = 24;

// Returns, for each inference and step, its span, and of the engine's the ends of jobs.
const timestamps = (facts, activity, tables) => {
  const lists = activity.lists();
  const noted = activity.stepEnds();
  const jobsDone = activity.count("jobs_done");
  let list = 0;
  let mark = 0;
  return tables.map((table) => {
    let begin = 0;
    let beside = 0;
    return table.map(({ cycles }, number) => {
      const step = facts.steps[number];
      const end = noted[mark] - facts.noted_cycles;
      mark += 1;
      let found;
      if (step.jobs) {
        const span = lists[list];
        list += 1;
        beside = step.beside;
        // Beside other steps, what the CPU spent is not how long it took.
        const start = beside ? span[0] : span[1] - cycles;
        const jobEnds = activity.increments(jobsDone, span);
        found = { span: [start, span[1]], engine: { span, jobEnds } };
      } else if (beside) {
        beside -= 1;
        found = { span: [begin, begin + cycles] };
      } else {
        found = { span: [end - cycles, end] };
      }
      begin = end;
      return found;
    });
  });
};

const within = (spans, [start, end]) => spans.filter((span) => span[0] >= start && span[1] <= end);

// Returns when weights came, and for which job: they come in the order of jobs.
const weightLoads = (activity, whole, lines) => {
  const active = activity.isSet("reads_weights");
  const sums = activity.before(active);
  let count = activity.activeCycles(active, sums, whole[0]);
  const starts = [];
  lines.forEach((size, number) => {
    if (size) starts.push([activity.cycleOf(sums, count), number]);
    count += size;
  });
  return within(activity.spans(active, JOIN_CYCLES), whole).flatMap((span) => {
    const inner = starts.map(([at]) => at).filter((at) => span[0] < at && at < span[1]);
    const cuts = [span[0], ...inner, span[1]];
    return cuts.slice(1).map((end, k) => {
      const begun = starts.filter(([at]) => at <= cuts[k]).map(([, number]) => number);
      return [[cuts[k], end], Math.max(...begun)];
    });
  });
};

function* listSlices(facts, activity, step, engine) {
  const names = step.jobs.map((job) => layerName(facts, job.layer));
  const begins = [engine.span[0], ...engine.jobEnds];
  for (const [number, job] of step.jobs.entries()) {
    const span = [begins[number], engine.jobEnds[number]];
    yield ["engine jobs", names[number], span, `job ${number}: ${job.groups} groups`];
  }
  for (const [cause, bit] of Object.entries(STALLS)) {
    for (const span of within(activity.spans(activity.isSet(bit)), engine.span)) {
      yield ["stalls", cause, span, ""];
    }
  }
  const lines = step.jobs.map((job) => job.weight_lines);
  for (const [span, number] of weightLoads(activity, engine.span, lines)) {
    yield ["weight loads", names[number], span, `weights of job ${number}`];
  }
  for (const [track, name, bits] of MOVES) {
    const active = activity.isSet(...bits);
    const sums = activity.before(active);
    for (const span of within(activity.spans(active, JOIN_CYCLES), engine.span)) {
      const [first, end] = span.map((at) => activity.activeCycles(active, sums, at));
      const bytes = ((end - first) * facts.line_bytes).toLocaleString("en-US");
      yield [track, name, span, `${bytes} bytes`];
    }
  }
}

const layerName = (facts, number) => `${facts.layers[number].index} ${facts.layers[number].operator}`;

function* inferenceSlices(facts, activity, steps) {
  for (const [number, times] of steps.entries()) {
    const step = facts.steps[number];
    const name = layerName(facts, step.layer);
    if (!times.engine) {
      yield ["CPU steps", name, times.span, step.kernel];
      continue;
    }
    if (!step.beside) yield ["CPU steps", "waits for the engine", times.span, `from ${name} on`];
    yield* listSlices(facts, activity, step, times.engine);
  }
}

// Returns the slices of each inference, track by track, from the first cycle of the first one on.
const timeline = (facts, activity, tables) => {
  const stamps = timestamps(facts, activity, tables);
  const origin = stamps[0][0].span[0];
  return stamps.map((steps) =>
    Array.from(inferenceSlices(facts, activity, steps), ([track, name, [start, end], details]) => ({
      track, name, start: start - origin, end: end - origin, details,
    })).sort((a, b) => TRACKS.indexOf(a.track) - TRACKS.indexOf(b.track) || a.start - b.start),
  );
};
