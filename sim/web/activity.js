// The log of a simulation: states of the engine and the steps, as kiwicha.sim.verilator.activity.
"use strict";

const WORDS_PER_RECORD = 8;

class Activity {
  constructor(raw, facts) {
    const words = new Uint32Array(raw.buffer, raw.byteOffset, raw.byteLength / 4);
    const size = words.length / WORDS_PER_RECORD;
    const column = (word) =>
      Array.from({ length: size }, (_, row) => words[row * WORDS_PER_RECORD + word]);
    const high = column(1);
    this.facts = facts;
    this.cycles = column(0).map((low, row) => low + high[row] * 2 ** 32);
    this.engine = [column(2), column(3)];
    this.progress = column(4);
  }

  get end() {
    return this.cycles[this.cycles.length - 1];
  }

  isSet(...names) {
    const mask = names.reduce((sum, name) => sum | (1 << this.facts.bits[name]), 0);
    return this.engine[0].map((word) => (word & mask) !== 0);
  }

  count(name) {
    const shift = this.facts.counts[name];
    return this.engine[shift >> 5].map((word) => (word >>> (shift & 31)) & this.facts.count_mask);
  }

  // Spans in which a condition holds; those at most `gap` apart are joined.
  spans(active, gap = 0) {
    const found = [];
    let start = null;
    active.forEach((isActive, row) => {
      const holds = isActive && row < active.length - 1;
      if (holds && start === null) start = this.cycles[row];
      if (holds || start === null) return;
      const last = found[found.length - 1];
      if (last && start - last[1] <= gap) last[1] = this.cycles[row];
      else found.push([start, this.cycles[row]]);
      start = null;
    });
    return found;
  }

  lists() {
    return this.spans(this.isSet("running"));
  }

  // Cycles inside a span in which a count grew, once for each step by one.
  increments(values, [start, end]) {
    const found = [];
    for (let row = 1; row < values.length; row += 1) {
      const at = this.cycles[row];
      if (at <= start || at > end) continue;
      for (let by = values[row] - values[row - 1]; by > 0; by -= 1) found.push(at);
    }
    return found;
  }

  stepEnds() {
    return this.increments(this.progress, [-1, this.end]);
  }

  // In how many cycles before each state a condition held.
  before(active) {
    const sums = [0];
    active.forEach((isActive, row) => {
      const length = (this.cycles[row + 1] ?? this.cycles[row]) - this.cycles[row];
      sums.push(sums[row] + (isActive ? length : 0));
    });
    return sums;
  }

  // In how many cycles before `at` a condition held.
  activeCycles(active, sums, at) {
    const row = Math.max(0, this.lastNotBehind(this.cycles, at));
    const length = sums[row + 1] - sums[row];
    return sums[row] + (active[row] ? Math.min(Math.max(0, at - this.cycles[row]), length) : 0);
  }

  // The cycle before which a condition held in `count` cycles, and in which it does.
  cycleOf(sums, count) {
    const row = this.lastNotBehind(sums, count);
    return row >= this.cycles.length ? this.end : this.cycles[row] + count - sums[row];
  }

  // The last place in ascending values that is not larger; -1 if there is none.
  lastNotBehind(values, value) {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
