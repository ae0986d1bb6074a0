// The matrix of threads and regions, and threads that behave alike.

import { fill, h, table } from "./dom.js";
import { counted, exact, percentage, time } from "./format.js";
import { behaviour, clusters, setsApart } from "./clusters.js";
import { heat } from "./heat.js";
import { ownByRegion } from "./places.js";
import { regionName } from "./sums.js";
import { change, stateOf } from "./state.js";
import { choice, showChoice } from "./explorer.js";

/** The most regions that are shown side by side. */
const MOST_REGIONS = 60;
const WORK = new Set(["work", "serial", "measuring"]);

/** The values that a cell of the matrix can show. */
const CELLS = [
  ["all", "all time"],
  ["lost", "time that is no work"],
  ["work", "work"],
];

/** The matrix, and clusters of threads. */
export class ThreadsView {
  /** @param {import("./explorer.js").Run} run */
  constructor({ model, cells }) {
    this.model = model;
    const { time: times } = ownByRegion(model, cells);
    const ran = [...new Set(/** @type {number[]} */ (model.paths.region))].sort((a, b) => times[b] - times[a]);
    this.regions = ran.slice(0, MOST_REGIONS);
    this.left = ran.length - this.regions.length;
    this.cells = matrixOf(model, cells, this.regions);
    this.choice = choice("t", "Show", CELLS);
    this.body = h("div", {});
    this.host = h("section", { class: "view", "aria-label": "Threads" }, h("div", { class: "tools" }, this.choice), this.body);
  }

  show() {
    showChoice(this.choice);
    fill(this.body, this.alike(), this.matrix());
  }

  alike() {
    const { names, rows } = alike(this.model, this.cells, this.regions);
    if (names.length < 2) return null;
    const shown = rows.map(({ what, members }) => {
      const alike = members.slice(0, 8).join(", ");
      return [counted(members.length, "thread"), what, members.length > 8 ? `${alike} and ${counted(members.length - 8, "other")}` : alike];
    });
    return [h("h2", {}, "Threads that behave alike"), table("By how they spend their time over regions", ["", "What sets them apart", "Threads"], shown)];
  }

  matrix() {
    const { threads, work, lost } = this.cells;
    const kind = stateOf("t", "all");
    const value = (/** @type {number} */ row, /** @type {number} */ column) =>
      (kind === "lost" ? 0 : work[row][column]) + (kind === "work" ? 0 : lost[row][column]);
    const most = Math.max(...threads.flatMap((_, row) => this.regions.map((_, column) => value(row, column))), 1);
    const names = this.regions.map((region) => regionName(this.model, region));
    const label = (/** @type {number} */ row) => this.model.threads.name[threads[row] - 1];
    const field = heat({
      label: "Regions by threads",
      rows: names,
      columns: threads.length,
      part: (row, column) => (value(column, row) > 0 ? value(column, row) / most : NaN),
      say: (row, column) => `${label(column)} in ${names[row]}: ${time(value(column, row))}`,
      choose: (row) => change({ v: "region", r: String(this.regions[row]) }),
    });
    // The table may be large: it is made when it is asked for.
    const details = h("details", { class: "more", ontoggle: () => {
      if (details.children.length > 1) return;
      details.append(table("Own time", ["Thread", ...names], threads.map((_, row) => [label(row), ...names.map((_, column) => exact(value(row, column)))])));
    } }, h("summary", {}, "As a table"));
    return [
      h("h2", {}, "Regions by threads"),
      h("p", { class: "said" }, `A column is a thread, in order; a row is a region, most time first${this.left > 0 ? ` (${counted(this.left, "other")} left out)` : ""}. Yellow is ${time(most)}.`),
      field,
      details,
    ];
  }
}

/**
 * Own time of threads in regions, divided into work and other time.
 * @param {any} model
 * @param {import("./data.js").Cells} cells
 * @param {number[]} regions
 * @returns {{threads: number[], work: Float64Array[], lost: Float64Array[]}} by thread
 */
export function matrixOf(model, cells, regions) {
  const column = new Map(regions.map((region, index) => [region, index]));
  /** @type {Map<number, {work: Float64Array, lost: Float64Array}>} */
  const rows = new Map();
  model.metrics.forEach((/** @type {import("./data.js").Metric} */ metric, /** @type {number} */ index) => {
    if (metric.unit !== "ns") return;
    const { entry, value } = cells.metrics[index];
    for (let one = 0; one < entry.length; one++) {
      const path = cells.path[entry[one]];
      const thread = cells.thread[entry[one]];
      const at = path === 0 ? undefined : column.get(model.paths.region[path - 1]);
      if (at === undefined || thread === 0) continue;
      const row = rows.get(thread) ?? { work: new Float64Array(regions.length), lost: new Float64Array(regions.length) };
      rows.set(thread, row);
      row[WORK.has(metric.id) ? "work" : "lost"][at] += value[one];
    }
  });
  const threads = [...rows.keys()].sort((a, b) => a - b);
  const of = (/** @type {"work" | "lost"} */ kind) => threads.map((thread) => /** @type {any} */ (rows.get(thread))[kind]);
  return { threads, work: of("work"), lost: of("lost") };
}

/**
 * Clusters of threads that behave alike, and what sets each apart from all others.
 * @param {any} model
 * @param {ReturnType<typeof matrixOf>} cells
 * @param {number[]} regions
 * @returns {{names: string[], rows: {what: string, members: string[]}[]}}
 */
export function alike(model, cells, regions) {
  const times = cells.threads.map((_, row) => [...cells.work[row], ...cells.lost[row]]);
  const { names, vectors } = behaviour(cells.threads.map((thread) => model.threads.name[thread - 1]), times);
  const place = (/** @type {number} */ at) => {
    if (at === 2 * regions.length) return "in no region";
    return `${at < regions.length ? "work in" : "no work at"} ${regionName(model, regions[at % regions.length])}`;
  };
  const rows = clusters(vectors).map((members) => {
    const apart = setsApart(vectors, members);
    const what = apart ? `${place(apart.at)}: ${percentage(100 * apart.here)} of their time, others ${percentage(100 * apart.elsewhere)}` : "all threads behave alike";
    return { what, members: members.map((row) => names[row]) };
  });
  return { names, rows };
}
