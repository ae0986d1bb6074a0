// The line above a view: it says whether the view shows a span of the trace or another run, and
// leads back.

import { fill, h, table } from "./dom.js";
import { exact, time } from "./format.js";
import { link, regionLink } from "./region.js";
import { CLASSES, loadTimeline, regionsIn, selectedLanes, selectedSpan, timesIn } from "./spans.js";
import { isSpan } from "./shown.js";
import { choice, showChoice } from "./explorer.js";
import { change, stateOf } from "./state.js";

/** The most regions that are listed for a selection. */
const MOST_SELECTED = 12;

/** The state in which nothing is selected in the timeline. */
export const NO_SELECTION = { t0: "", t1: "", ln: "" };

/** The description of a view's subject. */
export class Selected {
  /** @param {import("./explorer.js").Run} run */
  constructor({ model }) {
    this.model = model;
    this.asked = 0;
    this.run = choice("run", "Run", [["", "this one"], ...model.others.map((/** @type {any} */ other, /** @type {number} */ index) =>
      [String(index), `before: ${other.application} of ${other.start}`])]);
    this.span = h("div", {});
    this.host = h("section", { class: "selected", "aria-label": "What is shown", hidden: true }, this.run, this.span);
  }

  async show() {
    const asked = ++this.asked;
    const view = stateOf("v", "overview");
    const isFiltered = !["overview", "timeline", "compare"].includes(view);
    const hasSpan = isSpan(this.model) && view !== "timeline";
    this.run.hidden = !isFiltered || hasSpan || this.model.others.length === 0;
    this.span.hidden = !hasSpan;
    this.host.hidden = this.run.hidden && !hasSpan;
    showChoice(this.run);
    if (!hasSpan) {
      fill(this.span);
      return;
    }
    const { facts, lanes } = await loadTimeline();
    if (asked !== this.asked) return;
    const { from, to } = selectedSpan(facts.duration_ns);
    const selected = selectedLanes(lanes);
    const whose = selected.length === lanes.length ? "all threads" : `threads ${selected.map(({ name }) => name).join(", ")}`;
    const estimated = facts.has_slices ? "" : ` Estimated: each bin of ${time(facts.bin_ns)} counts for the region that has most of it.`;
    const about = isFiltered
      ? `This view shows that span alone, from the trace. A trace has no executions, counters or cost of measuring.${estimated} `
      : `Not filtered: ${view === "compare" ? "this view compares whole runs" : "the rest of this view is about the whole run"}. `;
    fill(this.span,
      h("p", {}, h("b", {}, `Selected in the timeline: ${time(to - from)} from ${from} ns to ${to} ns, ${whose}. `), about,
        link({ v: "timeline" }, "timeline"), " ",
        h("button", { onclick: () => change(NO_SELECTION), title: "Esc" }, "select all")),
      view !== "overview" ? null : this.times(facts, selected, from, to));
  }

  /**
   * @param {any} facts
   * @param {import("./spans.js").Lane[]} lanes
   * @param {number} from
   * @param {number} to
   */
  times(facts, lanes, from, to) {
    if (!facts.has_slices) {
      const rows = lanes.map((lane) => [lane.name, ...timesIn(lane, facts, from, to).map((ns) => exact(Math.round(ns)))]);
      return table("In the selection, estimated from bins", ["Thread", ...CLASSES], rows);
    }
    const all = regionsIn(lanes, from, to).filter((one) => one.region >= 0);
    const regions = [...new Set(all.map((one) => one.region))];
    const rows = regions.slice(0, MOST_SELECTED).map((one) => {
      const [text, index] = facts.regions[one] ?? ["no region", null];
      return [index === null ? text : regionLink(this.model, index), ...byClass(all, one)];
    });
    return table("In the selection, by region", ["Region", ...CLASSES.slice(1)], rows);
  }
}

/**
 * @param {{region: number, kind: number, time: number}[]} times
 * @param {number} region
 */
function byClass(times, region) {
  return CLASSES.slice(1).map((_, index) => {
    const sum = times.reduce((all, one) => all + (one.region === region && one.kind === index + 1 ? one.time : 0), 0);
    return exact(Math.round(sum));
  });
}
