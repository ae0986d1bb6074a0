// This run compared with others, with the results of `romp diff`. Nothing is judged here.

import { fill, h, table } from "./dom.js";
import { counted, exact, percentage, sentence, time } from "./format.js";
import { regionLink } from "./region.js";
import { choice, showChoice } from "./explorer.js";
import { stateOf } from "./state.js";

/** The most changes that are drawn at once. */
const MOST_COMPARED = 200;

const SHOWN = [
  ["changes", "what changed"],
  ["all", "also what is noise"],
];

/** The words for a construct or cause that is only on one side. */
const ONE_SIDED = /** @type {Record<string, string>} */ ({ new: "only now", vanished: "only before" });

/**
 * @typedef {object} Place see html/comparison.rs
 * @property {number | null} index
 * @property {string} words
 * @property {string} status
 * @property {string | null} edit
 */

/**
 * @typedef {object} Change see html/comparison.rs
 * @property {string} what
 * @property {Place | null} region
 * @property {string} [status]
 * @property {number[]} before the median and its interval, in ns
 * @property {number[]} after
 * @property {number} change_ns
 * @property {number | null} [ratio]
 * @property {boolean} noise
 */

/** The view that compares runs. */
export class CompareView {
  /** @param {import("./explorer.js").Run} run */
  constructor({ model }) {
    this.model = model;
    this.choice = choice("d", "Regions", SHOWN);
    this.body = h("div", {});
    this.host = h("section", { class: "view", "aria-label": "Comparison" }, h("div", { class: "tools" }, this.choice), this.body);
  }

  show() {
    showChoice(this.choice);
    const { verdict, notes, before, program, causes, regions, left_out: left, one_sided: oneSided } = this.model.comparison;
    const names = this.model.others.map((/** @type {any} */ other) => `${other.application} of ${other.start}`).join(", ");
    const isAll = stateOf("d", "changes") === "all";
    /** @type {Change[]} */
    const wanted = regions.filter((/** @type {Change} */ one) => isAll || !one.noise);
    const listed = wanted.slice(0, MOST_COMPARED);
    const more = wanted.length - listed.length + (isAll ? left : 0);
    const quiet = regions.length - regions.filter((/** @type {Change} */ one) => !one.noise).length;
    // It is said once for all times of a region how its directive was edited.
    const isFirst = (/** @type {Change} */ one) => listed.find(({ region }) => region?.words === one.region?.words) === one;
    fill(this.body,
      h("p", { class: "verdict" }, sentence(verdict)),
      h("p", {}, `Before: ${names}. ${before.runs > 1 ? "Times are medians of the runs, with their intervals." : ""}`),
      notes.map((/** @type {string} */ note) => h("p", { class: "note" }, sentence(note))),
      this.table("The whole program", "What", program, (one) => one.what),
      causes.length > 0 ? this.table("What there is to win", "Cause", causes, (one) => [one.what, one.status && one.status in ONE_SIDED ? ` (${ONE_SIDED[one.status]})` : ""]) : null,
      isAll || quiet === 0 ? null : h("p", { class: "said" }, `${counted(quiet, "time")} of regions changed no more than noise.`),
      listed.length > 0 ? this.table("Thread times of regions, largest change first", "Region", listed, (one) => [this.region(one.region), `, ${one.what}`, one.region?.edit && isFirst(one) ? h("div", { class: "said" }, one.region.edit) : ""]) : null,
      more > 0 ? h("p", { class: "said" }, `${counted(more, "further time")} changed less.`) : null,
      oneSided.length > 0 ? this.oneSided(oneSided) : null);
  }

  /** @param {{region: Place, time: number[]}[]} constructs */
  oneSided(constructs) {
    const rows = constructs.slice(0, MOST_COMPARED).map(({ region, time: of }) => [this.region(region), ONE_SIDED[region.status], sampleOf(of)]);
    const more = constructs.length - rows.length;
    return [table("Constructs that are only in one of the programs", ["Construct", "Where", "Thread time, with \
                                                                                             regions inside"], rows),
      more > 0 ? h("p", { class: "said" }, `There are ${counted(more, "further construct")}.`) : null];
  }

  /** @param {Place | null} region */
  region(region) {
    if (!region) return "";
    return region.index === null ? region.words : regionLink(this.model, region.index);
  }

  /**
   * @param {string} caption
   * @param {string} title
   * @param {Change[]} changes
   * @param {(one: Change) => any} name
   */
  table(caption, title, changes, name) {
    const most = Math.max(...changes.flatMap(({ before, after }) => [before[2], after[2]]), 1);
    const rows = changes.map((one) => {
      // Of two programs that have nothing in common, neither is better.
      const judged = this.model.comparison.is_unrelated ? "" : one.change_ns < 0 ? "better" : "worse";
      const quiet = one.noise ? "noise" : judged;
      const sign = one.change_ns > 0 ? "+" : "";
      const ratio = one.before[0] > 0 ? percentage((100 * one.change_ns) / one.before[0]) : one.after[0] > 0 ? "new" : "";
      return [name(one), sampleOf(one.before), sampleOf(one.after),
        h("span", { class: `num ${quiet}`, "data-value": one.change_ns, title: `${one.change_ns} ns` }, `${sign}${time(one.change_ns)}`),
        h("span", { class: quiet }, one.noise ? `${ratio} (noise)` : ratio),
        h("span", { class: "bar-cell" }, interval(one.before, most, "place-waits"), interval(one.after, most, "place-work"))];
    });
    return table(caption, [title, "Before", "Now", "Change", "", "before and now"], rows);
  }
}

/**
 * A median, with its interval if it has one.
 * @param {number[]} sample
 */
function sampleOf([median, low, high]) {
  return [exact(median), low === high ? "" : h("span", { class: "interval" }, ` ${time(low)} to ${time(high)}`)];
}

/**
 * A bar up to the median, and a line over the interval.
 * @param {number[]} sample
 * @param {number} most
 * @param {string} kind
 */
function interval([median, low, high], most, kind) {
  const bar = h("i", { class: kind });
  bar.style.width = `${(100 * median) / most}%`;
  const line = h("i", { class: "whisker" });
  line.style.left = `${(100 * low) / most}%`;
  line.style.width = `${(100 * (high - low)) / most}%`;
  return h("span", { class: "parts", "aria-hidden": "true" }, bar, low === high ? null : line);
}
