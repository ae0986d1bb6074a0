// The trace in the page, see trace/src/timeline.rs. This module does not draw.

import { Numbers, section } from "./data.js";
import { listOf, stateOf } from "./state.js";

/** The kinds of a thread's time. The first one is time in no construct. */
export const CLASSES = ["outside", "work", "waiting", "management", "task"];

/**
 * @typedef {object} Lane
 * @property {string} name
 * @property {Float64Array[]} bins time by class but the first, by bin
 * @property {Uint32Array} region of each bin: none, or its number and one
 * @property {Float64Array} from of each slice, in ns
 * @property {Float64Array} to
 * @property {Uint32Array} what classes x (region + 1) + class
 * @property {{from: number, to: number, first: number, length: number}[]} chunks
 */

/** @type {Promise<{facts: any, lanes: Lane[]}> | null} */
let timeline = null;

/** The trace in the page, which is read once. */
export function loadTimeline() {
  timeline ??= section("timeline").then(readTimeline);
  return timeline;
}

/**
 * The span that is visible or selected.
 * @param {number} end of the run, in ns
 * @returns {{from: number, to: number}}
 */
export function selectedSpan(end) {
  const from = Math.min(Math.max(Number(stateOf("t0", "0")) || 0, 0), end - 1);
  return { from, to: Math.min(Math.max(Number(stateOf("t1")) || end, from + 1), end) };
}

/**
 * The lanes of the selected threads; all lanes if no thread is selected.
 * @param {Lane[]} lanes
 * @returns {Lane[]}
 */
export function selectedLanes(lanes) {
  const names = listOf("ln");
  return names.size === 0 ? lanes : lanes.filter(({ name }) => names.has(name));
}

/** @typedef {{label: string, group: string, lanes: number[], isGroup: boolean}} Row */

/**
 * The groups of a thread, outermost first: its rank, such as `r1`, and its teams, each by the
 * thread that forked it.
 * @param {string} name
 * @returns {string[]}
 */
function groupsOf(name) {
  const parts = name.split("->");
  const teams = parts.slice(1).map((_, depth) => parts.slice(0, depth + 1).join("->"));
  const rank = name.indexOf(":");
  return rank < 0 ? teams : [name.slice(0, rank), ...teams];
}

/**
 * Ranks, teams and threads as rows. A folded rank or team hides the rows in it.
 * @param {string[]} names of the lanes
 * @param {Set<string>} folded
 * @returns {Row[]}
 */
export function rowsOf(names, folded) {
  /** @type {Map<string, number[]>} */
  const members = new Map();
  /** @type {Row[]} */
  const rows = [];
  names.forEach((name, lane) => {
    let isHidden = false;
    for (const group of groupsOf(name)) {
      const known = members.get(group);
      if (known) known.push(lane);
      else {
        const lanes = [lane];
        members.set(group, lanes);
        const label = /^r\d+$/.test(group) ? `rank ${group.slice(1)}` : `team of ${group}`;
        if (!isHidden) rows.push({ label, group, lanes, isGroup: true });
      }
      isHidden ||= folded.has(group);
    }
    if (!isHidden) rows.push({ label: name, group: "", lanes: [lane], isGroup: false });
  });
  return rows;
}

/**
 * @param {Uint8Array} bytes
 * @returns {{facts: any, lanes: Lane[]}}
 */
export function readTimeline(bytes) {
  const numbers = new Numbers(bytes);
  const length = numbers.next();
  const facts = JSON.parse(new TextDecoder().decode(bytes.subarray(numbers.at, numbers.at + length)));
  numbers.at += length;
  /** @type {Lane[]} */
  const lanes = facts.lanes.map((/** @type {string} */ name) => {
    const bins = CLASSES.slice(1).map(() => new Float64Array(facts.bins));
    const region = new Uint32Array(facts.bins);
    for (let bin = 0; bin < facts.bins; bin++) {
      let sum = 0;
      for (const column of bins) {
        column[bin] = numbers.next();
        sum += column[bin];
      }
      if (sum > 0) region[bin] = numbers.next();
    }
    return { name, bins, region, from: new Float64Array(0), to: new Float64Array(0), what: new Uint32Array(0), chunks: [] };
  });
  for (const lane of lanes) readSlices(lane, numbers);
  for (const lane of lanes) readChunks(lane, numbers);
  return { facts, lanes };
}

/**
 * @param {Lane} lane
 * @param {Numbers} numbers
 */
function readSlices(lane, numbers) {
  const size = numbers.next();
  lane.from = new Float64Array(size);
  lane.to = new Float64Array(size);
  lane.what = new Uint32Array(size);
  let last = 0;
  for (let at = 0; at < size; at++) {
    lane.from[at] = last + numbers.next();
    lane.to[at] = lane.from[at] + numbers.next();
    lane.what[at] = numbers.next();
    last = Math.max(lane.to[at], last);
  }
}

/**
 * @param {Lane} lane
 * @param {Numbers} numbers
 */
function readChunks(lane, numbers) {
  const size = numbers.next();
  let from = 0;
  for (let at = 0; at < size; at++) {
    from += numbers.next();
    const to = from + numbers.next();
    lane.chunks.push({ from, to, first: numbers.next(), length: numbers.next() });
  }
}

/**
 * The first place in an ascending list whose value is above a limit.
 * @param {ArrayLike<number>} values
 * @param {number} limit
 * @returns {number}
 */
export function firstAbove(values, limit) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Time of a lane by class in a span: exact from slices, else from parts of the bins.
 * @param {Lane} lane
 * @param {any} facts
 * @param {number} from
 * @param {number} to
 * @returns {number[]}
 */
export function timesIn(lane, facts, from, to) {
  const sums = CLASSES.map(() => 0);
  if (facts.has_slices) {
    for (let at = firstAbove(lane.to, from); at < lane.from.length && lane.from[at] < to; at++) {
      sums[lane.what[at] % CLASSES.length] += Math.min(lane.to[at], to) - Math.max(lane.from[at], from);
    }
  } else {
    const size = facts.bin_ns;
    for (let bin = Math.floor(from / size); bin < Math.min(Math.ceil(to / size), facts.bins); bin++) {
      const part = (Math.min((bin + 1) * size, to) - Math.max(bin * size, from)) / size;
      lane.bins.forEach((column, index) => { sums[index + 1] += column[bin] * part; });
    }
  }
  sums[0] = to - from - sums.slice(1).reduce((sum, one) => sum + one, 0);
  return sums;
}

/**
 * Time of a lane by region and class in a span. A bin counts as if it belonged to one region.
 * @param {Lane} lane
 * @param {any} facts
 * @param {number} from
 * @param {number} to
 * @returns {{region: number, kind: number, time: number}[]} region -1 for none
 */
export function timesOf(lane, facts, from, to) {
  if (facts.has_slices) return regionsIn([lane], from, to);
  /** @type {Map<number, number>} */
  const sums = new Map();
  const size = facts.bin_ns;
  for (let bin = Math.floor(from / size); bin < Math.min(Math.ceil(to / size), facts.bins); bin++) {
    const part = (Math.min((bin + 1) * size, to) - Math.max(bin * size, from)) / size;
    for (const [index, column] of lane.bins.entries()) {
      const what = lane.region[bin] * CLASSES.length + index + 1;
      if (column[bin] > 0) sums.set(what, (sums.get(what) ?? 0) + column[bin] * part);
    }
  }
  return rowsOfSums(sums);
}

/**
 * @param {Map<number, number>} sums time by region and class
 * @returns {{region: number, kind: number, time: number}[]} largest first, in whole ns
 */
function rowsOfSums(sums) {
  const size = CLASSES.length;
  const rows = [...sums].map(([what, time]) => ({ region: Math.floor(what / size) - 1, kind: what % size, time: Math.round(time) }));
  return rows.sort((a, b) => b.time - a.time);
}

/**
 * Time by region and class in a span, largest first; only if there are slices.
 * @param {Lane[]} lanes
 * @param {number} from
 * @param {number} to
 * @returns {{region: number, kind: number, time: number}[]} region -1 for none
 */
export function regionsIn(lanes, from, to) {
  /** @type {Map<number, number>} */
  const sums = new Map();
  for (const lane of lanes) {
    for (let at = firstAbove(lane.to, from); at < lane.from.length && lane.from[at] < to; at++) {
      const time = Math.min(lane.to[at], to) - Math.max(lane.from[at], from);
      sums.set(lane.what[at], (sums.get(lane.what[at]) ?? 0) + time);
    }
  }
  return rowsOfSums(sums);
}
