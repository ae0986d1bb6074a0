// The span and the threads that the timeline has selected, beside every other view.

import { fill, h, table } from "./dom.js";
import { exact, time } from "./format.js";
import { link, regionLink } from "./region.js";
import { regionName } from "./sums.js";
import { CLASSES, loadTimeline, regionsIn, selectedLanes, selectedSpan, timesIn } from "./spans.js";
import { change, stateOf } from "./state.js";

/** The most regions that are listed of a selection. */
const MOST_SELECTED = 12;

/** What the threads did there: by region, or on a region's page by thread. */
export class SelectedSpan {
  /** @param {import("./explorer.js").Run} run */
  constructor({ model }) {
    this.model = model;
    this.asked = 0;
    this.host = h("section", { class: "selected", "aria-label": "Selected in the timeline", hidden: true });
  }

  async show() {
    const asked = ++this.asked;
    const view = stateOf("v", "overview");
    const isSelected = stateOf("t1") !== "" || stateOf("ln") !== "";
    this.host.hidden = !isSelected || view === "timeline" || !this.model.sections.includes("timeline");
    if (this.host.hidden) {
      fill(this.host);
      return;
    }
    const { facts, lanes } = await loadTimeline();
    if (asked !== this.asked) return;
    const { from, to } = selectedSpan(facts.duration_ns);
    const selected = selectedLanes(lanes);
    const whose = selected.length === lanes.length ? "all threads" : `threads ${selected.map(({ name }) => name).join(", ")}`;
    fill(this.host,
      h("p", {}, h("b", {}, `Selected in the timeline: ${time(to - from)} from ${from} ns to ${to} ns, ${whose}. `),
        "The rest of this view is about the whole run. ", link({ v: "timeline" }, "timeline"), " ",
        h("button", { onclick: () => change({ t0: "", t1: "", ln: "" }) }, "select all")),
      this.times(facts, selected, from, to, view === "region" ? Number(stateOf("r", "-1")) : -1));
  }

  /**
   * @param {any} facts
   * @param {import("./spans.js").Lane[]} lanes
   * @param {number} from
   * @param {number} to
   * @param {number} region the one that is looked at, or -1
   */
  times(facts, lanes, from, to, region) {
    if (!facts.has_slices) {
      const rows = lanes.map((lane) => [lane.name, ...timesIn(lane, facts, from, to).map((ns) => exact(Math.round(ns)))]);
      return table("In the selection, estimated from bins", ["Thread", ...CLASSES], rows);
    }
    const here = facts.regions.findIndex((/** @type {any[]} */ [, index]) => index === region);
    if (region >= 0) {
      const rows = lanes.map((lane) => [lane.name, ...byClass(regionsIn([lane], from, to), here)]);
      return table(`${regionName(this.model, region)}, in the selection`, ["Thread", ...CLASSES.slice(1)], rows);
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
