// The matrix of threads and regions, and threads that behave alike.

import { fill, h, table } from "./dom.js";
import { counted, exact, percentage, time } from "./format.js";
import { clusters, setsApart } from "./clusters.js";
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
    // A thread that forks a team is also the team's first member.
    const names = this.model.threads.name;
    const forks = new Set(names.map((/** @type {string} */ name) => name.split("->").slice(0, -1).join("->")));
    const all = this.cells.threads.map((thread, row) => ({ thread, row })).filter(({ thread }) => !forks.has(names[thread - 1]));
    if (all.length < 2) return null;
    const threads = all.map(({ thread }) => thread);
    const vectors = all.map(({ row }) => shares([...this.cells.work[row], ...this.cells.lost[row]]));
    const found = clusters(vectors);
    const name = (/** @type {number} */ at) => {
      const region = this.regions[at % this.regions.length];
      return `${at < this.regions.length ? "work in" : "no work at"} ${regionName(this.model, region)}`;
    };
    const rows = found.map((members) => {
      const apart = setsApart(vectors, members);
      const what = apart ? `${name(apart.at)}: ${percentage(100 * apart.here)} of their time, others ${percentage(100 * apart.elsewhere)}` : "all threads behave alike";
      const alike = members.map((row) => names[threads[row] - 1]);
      const shown = alike.length > 8 ? `${alike.slice(0, 8).join(", ")} and ${counted(alike.length - 8, "other")}` : alike.join(", ");
      return [counted(members.length, "thread"), what, shown];
    });
    return [h("h2", {}, "Threads that behave alike"), table("By how they spend their time over regions", ["", "What sets them apart", "Threads"], rows)];
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
 * Parts of a whole; they add up to 1.
 * @param {number[]} values
 * @returns {number[]}
 */
function shares(values) {
  const sum = values.reduce((all, value) => all + value, 0);
  return values.map((value) => (sum > 0 ? value / sum : 0));
}
