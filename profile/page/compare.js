// This run against others: what changed, and what is within their spread.

import { readCells, section } from "./data.js";
import { fill, h, table } from "./dom.js";
import { exact, percentage, time } from "./format.js";
import { partsBar } from "./heat.js";
import { regionLink } from "./region.js";
import { sumByMetric } from "./sums.js";
import { choice, showChoice } from "./explorer.js";
import { stateOf } from "./state.js";

/** Quantiles of Student's distribution for 95 %, by degrees of freedom from 1. */
const QUANTILES = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131];
const LARGE_SAMPLE = 1.96;
/** A change below this part of the larger time says nothing, whatever the spread. */
const NOISE = 0.01;
/** The most regions that are compared at once. */
const MOST_COMPARED = 200;

/**
 * The mean, and how far from it one more run lies in 95 of 100 cases; null if there are
 * too few to tell.
 * @param {number[]} values
 * @returns {{mean: number, spread: number | null}}
 */
export function spreadOf(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length < 3) return { mean, spread: null };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const quantile = QUANTILES[values.length - 2] ?? LARGE_SAMPLE;
  return { mean, spread: quantile * Math.sqrt((squares / (values.length - 1)) * (1 + 1 / values.length)) };
}

/**
 * Whether a value says nothing new beside others.
 * @param {number} value
 * @param {{mean: number, spread: number | null}} before
 * @returns {boolean}
 */
export function isNoise(value, { mean, spread }) {
  return Math.abs(value - mean) <= Math.max(NOISE * Math.max(value, mean), spread ?? 0);
}

const SUBJECTS = [
  ["time", "all own time"],
  ["lost", "time that is no work"],
];

/** The view that compares. */
export class CompareView {
  /** @param {import("./explorer.js").Run} run */
  constructor({ model, cells }) {
    this.model = model;
    this.cells = cells;
    /** @type {import("./data.js").Cells[] | null} */
    this.others = null;
    this.choice = choice("d", "Compare", SUBJECTS);
    this.body = h("div", {});
    this.host = h("section", { class: "view", "aria-label": "Comparison" }, h("div", { class: "tools" }, this.choice), this.body);
  }

  async show() {
    showChoice(this.choice);
    const { model } = this;
    if (!this.others) {
      const paths = model.paths.region.length + 2;
      const read = async (/** @type {number} */ index) => readCells(await section(`other-${index}`), paths, model.metrics.length);
      this.others = await Promise.all(model.others.map((/** @type {any} */ _, /** @type {number} */ index) => read(index)));
    }
    fill(this.body, this.whole(), this.regions());
  }

  /**
   * A row: before, now, change.
   * @param {any} name
   * @param {number} now
   * @param {number[]} before
   * @param {number} scale
   */
  row(name, now, before, scale) {
    const is = spreadOf(before);
    const change = now - is.mean;
    const quiet = isNoise(now, is) ? "noise" : change < 0 ? "better" : "worse";
    const spread = is.spread === null ? "" : ` ± ${time(Math.round(is.spread))}`;
    const relative = is.mean > 0 ? percentage((100 * change) / is.mean) : now > 0 ? "new" : "";
    const bars = [partsBar([{ value: is.mean, kind: "place-waits" }], scale, ""), partsBar([{ value: now, kind: "place-work" }], scale, "")];
    return [name, [exact(Math.round(is.mean)), spread], exact(now), h("span", { class: `num ${quiet}`, "data-value": change }, `${change > 0 ? "+" : ""}${time(Math.round(change))}`),
      h("span", { class: quiet }, quiet === "noise" ? `${relative} (noise)` : relative), h("span", { class: "bar-cell" }, bars)];
  }

  whole() {
    const { model } = this;
    const others = /** @type {import("./data.js").Cells[]} */ (this.others);
    const now = sumByMetric(this.cells);
    const before = others.map(sumByMetric);
    const rows = [this.row("Elapsed time", model.duration_ns, model.others.map((/** @type {any} */ other) => other.duration_ns), model.duration_ns)];
    const most = Math.max(...now.slice(0, -1), 1);
    model.metrics.forEach((/** @type {any} */ metric, /** @type {number} */ index) => {
      const then = before.map((sums) => sums[index]);
      if (metric.unit === "ns" && (now[index] > 0 || then.some((value) => value > 0))) rows.push(this.row(metric.name, now[index], then, most));
    });
    const differ = model.others.some((/** @type {any} */ other) => other.threads_at_once !== model.threads_at_once);
    const names = model.others.map((/** @type {any} */ other) => `${other.application} of ${other.start}`).join(", ");
    return [h("p", {}, `Before: ${names}.`), differ ? h("p", { class: "note" }, "The runs had different numbers of threads: thread times are not the same thing.") : null,
      table("The whole program", ["What", "Before", "Now", "Change", "", "before and now"], rows)];
  }

  regions() {
    const { model } = this;
    const others = /** @type {import("./data.js").Cells[]} */ (this.others);
    const kind = stateOf("d", "time");
    const now = timesByRegion(model, this.cells, kind);
    const before = others.map((cells) => timesByRegion(model, cells, kind));
    const ran = [...now.keys()].filter((region) => now[region] > 0 || before.some((times) => times[region] > 0));
    const change = (/** @type {number} */ region) => Math.abs(now[region] - spreadOf(before.map((times) => times[region])).mean);
    ran.sort((a, b) => change(b) - change(a));
    const most = Math.max(...now, ...before.flatMap((times) => [...times]), 1);
    const rows = ran.slice(0, MOST_COMPARED).map((region) => {
      const name = region === model.regions.kind.length ? "constructs that are not in this run" : regionLink(model, region);
      return this.row(name, now[region], before.map((times) => times[region]), most);
    });
    return [h("h2", {}, "Regions"), table("Own thread time, largest change first", ["Region", "Before", "Now", "Change", "", "before and now"], rows)];
  }
}

/**
 * Own time by region; last what is in no region of this run.
 * @param {any} model
 * @param {import("./data.js").Cells} cells
 * @param {string} kind
 * @returns {Float64Array}
 */
export function timesByRegion(model, cells, kind) {
  const number = model.regions.kind.length;
  const sums = new Float64Array(number + 1);
  const gone = model.paths.region.length + 1;
  model.metrics.forEach((/** @type {import("./data.js").Metric} */ metric, /** @type {number} */ index) => {
    if (metric.unit !== "ns" || (kind === "lost" && ["work", "serial", "measuring"].includes(metric.id))) return;
    const { entry, value } = cells.metrics[index];
    for (let at = 0; at < entry.length; at++) {
      const path = cells.path[entry[at]];
      if (path > 0) sums[path === gone ? number : model.paths.region[path - 1]] += value[at];
    }
  });
  return sums;
}
