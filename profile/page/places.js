// The time of threads in a region, divided into POMPROF's parts. This module does not draw.

import { eachOf } from "./data.js";

/**
 * Time of one thread in one region, in nanoseconds. It is the sum before + work + waits +
 * barrier + after + untold.
 * @typedef {{thread: number, before: number, work: number, waits: number, barrier: number, after: number, untold: number, count: number}} Place
 */

/** The parts, in chronological order. */
export const PLACE_PARTS = /** @type {const} */ (["before", "work", "waits", "barrier", "after", "untold"]);

/** The names of the parts. */
export const PLACE_NAMES = {
  before: "before",
  work: "work",
  waits: "waits inside",
  barrier: "wait at the end",
  after: "after",
  untold: "not known",
};

/** The part to which a kind of the region's own thread time belongs. Other kinds are work. */
/** @type {Record<string, keyof typeof PLACE_NAMES>} */
const OWN = {
  start: "before",
  critical: "before",
  lock: "before",
  ordered: "before",
  imbalance: "barrier",
  little_work: "barrier",
  taskgroup: "barrier",
  barrier: "barrier",
  atomic: "barrier",
  taskwait: "barrier",
  end: "after",
  other: "after",
  untold: "untold",
};

/** The kinds of thread time that count as lost in a region below. */
const LOST = new Set(["barrier", "critical", "lock", "ordered", "atomic", "taskgroup", "imbalance", "little_work", "start", "end", "other", "creation", "taskwait"]);

/**
 * For each path, whether it belongs to a region: 2 if it is the region's own, 1 if it is below
 * it and the same threads execute it.
 * @param {any} model
 * @param {number} region
 * @returns {Uint8Array} by path, the program first
 */
export function pathsIn(model, region) {
  const { region: regions, caller } = model.paths;
  const isIn = new Uint8Array(regions.length + 1);
  regions.forEach((/** @type {number} */ of, /** @type {number} */ path) => {
    const isTeam = model.regions.kinds[model.regions.kind[of]].startsWith("PARALLEL");
    if (of === region) isIn[path + 1] = 2;
    else if (caller[path] !== null && isIn[caller[path] + 1] > 0 && !isTeam) isIn[path + 1] = 1;
  });
  return isIn;
}

/**
 * The times of each thread in a region, in the order of the threads. Thread 0 stands for
 * threads that are not told apart.
 * @param {any} model
 * @param {import("./data.js").Cells} cells
 * @param {number} region
 * @returns {Place[]}
 */
export function placesOfRegion(model, cells, region) {
  const isIn = pathsIn(model, region);
  /** @type {Map<number, Place>} */
  const places = new Map();
  const at = (/** @type {number} */ thread) => {
    const place = places.get(thread) ?? { thread, before: 0, work: 0, waits: 0, barrier: 0, after: 0, untold: 0, count: 0 };
    places.set(thread, place);
    return place;
  };
  isIn.forEach((kind, path) => {
    if (kind === 0) return;
    eachOf(cells, path, (metric, thread, value) => {
      const { id, unit } = model.metrics[metric];
      if (id === "executions" && kind === 2) at(thread).count += value;
      if (unit !== "ns") return;
      const below = LOST.has(id) ? "waits" : id === "untold" ? "untold" : "work";
      at(thread)[kind === 2 ? (OWN[id] ?? "work") : below] += value;
    });
  });
  return [...places.values()].sort((a, b) => a.thread - b.thread);
}

/**
 * @param {Place} place
 * @returns {number}
 */
export function placeTime(place) {
  return PLACE_PARTS.reduce((sum, part) => sum + place[part], 0);
}

/**
 * Own time and lost time of each region, for all threads together.
 * @param {any} model
 * @param {import("./data.js").Cells} cells
 * @returns {{time: Float64Array, lost: Float64Array, count: Float64Array}}
 */
export function ownByRegion(model, cells) {
  const number = model.regions.kind.length;
  const sums = { time: new Float64Array(number), lost: new Float64Array(number), count: new Float64Array(number) };
  model.paths.region.forEach((/** @type {number} */ region, /** @type {number} */ path) => {
    eachOf(cells, path + 1, (metric, _thread, value) => {
      const { id, unit } = model.metrics[metric];
      if (id === "executions") sums.count[region] += value;
      if (unit !== "ns") return;
      sums.time[region] += value;
      if (LOST.has(id)) sums.lost[region] += value;
    });
  });
  return sums;
}
