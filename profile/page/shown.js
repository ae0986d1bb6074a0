// The run that the views show: this one, a span of its trace, or another run.

import { cellsOf, readCells, section } from "./data.js";
import { loadTimeline, selectedLanes, selectedSpan, timesOf } from "./spans.js";
import { stateOf } from "./state.js";

/** @typedef {import("./explorer.js").Run} Run */

/** Data that a page only has for the whole run. */
const OF_THE_WHOLE = { instances: [], arrivals: [], contention: [], properties: [], efficiency: [], others: [], folded: 0, isPart: true };

/**
 * Whether the timeline has selected a span or threads.
 * @param {any} model
 * @returns {boolean}
 */
export function isSpan(model) {
  return model.sections.includes("timeline") && (stateOf("t1") !== "" || stateOf("ln") !== "");
}

/**
 * The index of the other run that is shown; -1 for none.
 * @param {any} model
 * @returns {number}
 */
export function otherShown(model) {
  const other = stateOf("run") === "" ? -1 : Number(stateOf("run"));
  return Number.isInteger(other) && other < model.others.length ? other : -1;
}

/**
 * A key for the shown run, which changes with it.
 * @param {any} model
 * @returns {string}
 */
export function shownKey(model) {
  if (isSpan(model)) return ["span", stateOf("t0"), stateOf("t1"), stateOf("ln")].join(" ");
  return `run ${otherShown(model)}`;
}

/**
 * The run that the views show.
 * @param {Run} run
 * @returns {Promise<Run>}
 */
export async function shownRun(run) {
  const { model } = run;
  if (isSpan(model)) {
    const { facts, lanes } = await loadTimeline();
    const { from, to } = selectedSpan(facts.duration_ns);
    return spanRun(model, facts, lanes, selectedLanes(lanes), from, to);
  }
  const other = otherShown(model);
  return other < 0 ? run : { model: modelOfOther(model, other), cells: await cellsOfOther(model, other) };
}

/**
 * The cells of another run, on the paths of this one. The last path collects everything that is
 * on none of them.
 * @param {any} model
 * @param {number} other
 * @returns {Promise<import("./data.js").Cells>}
 */
export async function cellsOfOther(model, other) {
  return readCells(await section(`other-${other}`), model.paths.region.length + 2, model.metrics.length);
}

/**
 * Another run, in the form of this one. An additional region stands for everything that is not
 * in this run.
 * @param {any} model
 * @param {number} other
 */
function modelOfOther(model, other) {
  const { regions, paths } = model;
  const gone = { ...regions, kinds: [...regions.kinds, "constructs that are not in this run"], kind: [...regions.kind, regions.kinds.length] };
  for (const column of ["name", "function", "directive", "schedule", "limits"]) gone[column] = [...regions[column], null];
  gone.file = [...regions.file, -1];
  gone.first = [...regions.first, 0];
  gone.last = [...regions.last, 0];
  return {
    ...model, ...OF_THE_WHOLE, ...model.others[other], regions: gone, isPart: false, folded: 1, sections: [],
    paths: { region: [...paths.region, regions.kind.length], caller: [...paths.caller, null] },
  };
}

/**
 * A span of the trace, in the form of a run. The trace only knows regions. If a region has
 * several call paths, an additional path stands for all of them.
 * @param {any} model
 * @param {any} facts
 * @param {import("./spans.js").Lane[]} all lanes
 * @param {import("./spans.js").Lane[]} lanes those that are selected
 * @param {number} from
 * @param {number} to
 * @returns {Run}
 */
export function spanRun(model, facts, all, lanes, from, to) {
  const metric = new Map(model.metrics.map((/** @type {any} */ one, /** @type {number} */ index) => [one.id, index]));
  const thread = new Map(model.threads.name.map((/** @type {string} */ name, /** @type {number} */ index) => [name, index + 1]));
  const paths = { region: [...model.paths.region], caller: [...model.paths.caller] };
  /** @type {Map<number, number>} */
  const places = new Map();
  for (const [path, region] of paths.region.entries()) {
    places.set(region, places.has(region) ? -1 : path);
  }
  const placeOf = (/** @type {number | null} */ region) => {
    if (region === null) return 0;
    let path = places.get(region) ?? -1;
    if (path < 0) {
      path = paths.region.push(region) - 1;
      paths.caller.push(null);
      places.set(region, path);
    }
    return path + 1;
  };
  /** @type {import("./data.js").CellValue[]} */
  const values = [];
  const add = (/** @type {string} */ id, /** @type {number} */ path, /** @type {number} */ of, /** @type {number} */ value) =>
    values.push({ metric: metric.get(id) ?? 0, path, thread: of, value });
  let known = 0;
  for (const lane of lanes) {
    const isMember = lane.name.includes("->");
    const work = isMember ? "work" : "serial";
    for (const { region, kind, time } of timesOf(lane, facts, from, to)) {
      if (kind === 0) continue;
      const [, index, waiting, managing] = facts.regions[region] ?? ["", null, "other", "other"];
      known += time;
      add([work, waiting, managing, work][kind - 1], placeOf(index), thread.get(lane.name) ?? 0, time);
    }
    const serial = isMember ? 0 : to - from - timeOfThread(lane.name, facts, all, from, to);
    if (serial > 0) add("serial", 0, thread.get(lane.name) ?? 0, serial);
    known += Math.max(serial, 0);
  }
  const rest = lanes.length === all.length ? (to - from) * model.threads_at_once - known : 0;
  if (rest > 0) add("idle", 0, 0, rest);
  const names = new Map([["start", "Starting and ending teams"], ["idle", "No work, or at the end of a team"]]);
  const metrics = model.metrics.map((/** @type {any} */ one) => ({ ...one, name: names.get(one.id) ?? one.name }));
  const sections = model.sections.filter((/** @type {string} */ name) => name !== "iterations");
  const part = { ...model, ...OF_THE_WHOLE, whole: model, metrics, paths, sections, duration_ns: to - from };
  return { model: part, cells: cellsOf(values, paths.region.length + 1, metrics.length) };
}

/**
 * How long an initial thread was in constructs: in its own lane, and in the lanes of teams in
 * which it is the first member.
 * @param {string} name
 * @param {any} facts
 * @param {import("./spans.js").Lane[]} lanes
 * @param {number} from
 * @param {number} to
 * @returns {number}
 */
function timeOfThread(name, facts, lanes, from, to) {
  const own = lanes.filter((lane) => lane.name === name || (lane.name.startsWith(`${name}->`) && /^(->0)+$/.test(lane.name.slice(name.length))));
  const times = own.flatMap((lane) => timesOf(lane, facts, from, to)).filter(({ kind }) => kind > 0);
  return times.reduce((sum, { time }) => sum + time, 0);
}
