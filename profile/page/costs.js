// The costs of a loop's iterations, by iteration number: a map, and the most expensive ones.

import { h, table } from "./dom.js";
import { count, counted, exact, time } from "./format.js";
import { heat } from "./heat.js";

/**
 * @typedef {object} Costs see trace/src/timeline/costs.rs
 * @property {number | null} rank of the process, if there are several
 * @property {[string, number | null]} region
 * @property {number} iterations
 * @property {number} instances
 * @property {number} chunks
 * @property {number} largest_chunk
 * @property {number} per_cell
 * @property {number[]} executed
 * @property {number[]} ns of one iteration
 */

/** The most columns of the map, and the most rows of the table. */
const MOST_COLUMNS = 240;
const MOST_NAMED = 10;

/**
 * Joins neighbouring cells, so that there are not too many columns.
 * @param {Costs} loop
 * @param {number} most
 * @returns {{first: number, last: number, executed: number, ns: number}[]} by iteration
 */
export function columnsOf(loop, most) {
  const together = Math.max(Math.ceil(loop.ns.length / most), 1);
  const columns = [];
  for (let at = 0; at < loop.ns.length; at += together) {
    const end = Math.min(at + together, loop.ns.length);
    let [executed, sum] = [0, 0];
    for (let cell = at; cell < end; cell++) {
      executed += loop.executed[cell];
      sum += loop.executed[cell] * loop.ns[cell];
    }
    const last = Math.min(end * loop.per_cell, loop.iterations) - 1;
    columns.push({ first: at * loop.per_cell, last, executed, ns: executed > 0 ? sum / executed : 0 });
  }
  return columns;
}

/**
 * @param {Costs} loop
 * @returns {any}
 */
export function costs(loop) {
  const columns = columnsOf(loop, MOST_COLUMNS);
  const most = Math.max(...columns.map(({ ns }) => ns), 1);
  const range = (/** @type {{first: number, last: number}} */ { first, last }) =>
    first === last ? `iteration ${count(first)}` : `iterations ${count(first)} to ${count(last)}`;
  const map = heat({
    label: "Cost of iterations",
    rows: ["an iteration"],
    columns: columns.length,
    part: (_, column) => (columns[column].executed > 0 ? columns[column].ns / most : NaN),
    say: (_, column) => `${range(columns[column])}: ${time(Math.round(columns[column].ns))} each, executed ${count(columns[column].executed)} times`,
  });
  const mostExpensive = columns.filter(({ executed }) => executed > 0).sort((a, b) => b.ns - a.ns).slice(0, MOST_NAMED);
  const rows = mostExpensive.map((column) => [range(column), exact(Math.round(column.ns)), exact(column.executed, "")]);
  const shared = loop.largest_chunk > 1 ? ` A chunk's time is shared out evenly among its iterations; the largest had ${count(loop.largest_chunk)}.` : "";
  return [h("h2", {}, `What iterations cost${loop.rank === null ? "" : ` in rank ${loop.rank}`}`),
    h("p", { class: "said" }, `${counted(loop.instances, "instance")} of up to ${counted(loop.iterations, "iteration")}, ${counted(loop.chunks, "chunk")}; the median over the instances.${shared}`),
    map, table("Most expensive first", ["", "One costs", "Executed"], rows)];
}
