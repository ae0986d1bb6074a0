// The page of one region, and the list of all regions.

import { eachOf, sectionText } from "./data.js";
import { excerpt, fill, h, table } from "./dom.js";
import { costs } from "./costs.js";
import { count, counted, exact, percentage, time } from "./format.js";
import { heat, partsBar } from "./heat.js";
import { PLACE_NAMES, PLACE_PARTS, ownByRegion, placeTime, placesOfRegion } from "./places.js";
import { regionName } from "./sums.js";
import { change, stateOf } from "./state.js";
import { choice, showChoice } from "./explorer.js";

/** @typedef {import("./explorer.js").Run} Run */

/** The most rows of a table that are drawn at once. */
const MOST_ROWS = 200;

/**
 * A link to the page of a region.
 * @param {any} model
 * @param {number} region
 * @returns {HTMLElement}
 */
export function regionLink(model, region) {
  return link({ v: "region", r: String(region) }, regionName(model, region));
}

/**
 * @param {Record<string, string>} changes
 * @param {string} text
 * @returns {HTMLElement}
 */
export function link(changes, text) {
  return h("a", { href: `#${new URLSearchParams(changes)}`, onclick: (/** @type {Event} */ event) => {
    event.preventDefault();
    change(changes);
  } }, text);
}

/** The columns by which threads can be sorted. */
const SORTS = [["thread", "thread"], ...PLACE_PARTS.map((part) => [part, PLACE_NAMES[part]])];

/** The view of one region, or of all regions. */
export class RegionView {
  /** @param {Run} run */
  constructor({ model, cells }) {
    this.model = model;
    this.cells = cells;
    this.own = ownByRegion(model, cells);
    /** @type {import("./costs.js").Costs[]} */
    this.costs = [];
    if (model.sections.includes("iterations")) {
      sectionText("iterations").then((text) => {
        this.costs = JSON.parse(text);
        this.show();
      });
    }
    this.sort = choice("s", "Threads by", SORTS);
    this.find = h("input", { type: "search", class: "find", placeholder: "find ( / )", "aria-label": "Find a region",
      oninput: () => change({ r: "", q: this.find.value }) });
    this.body = h("div", {});
    this.host = h("section", { class: "view region", "aria-label": "Regions" },
      h("div", { class: "tools" }, this.find, this.sort), this.body);
  }

  show() {
    showChoice(this.sort);
    const wanted = stateOf("r");
    const region = wanted === "" ? -1 : Number(wanted);
    const isOne = Number.isInteger(region) && region >= 0 && region < this.model.regions.kind.length;
    this.sort.hidden = !isOne;
    fill(this.body, isOne ? this.one(region) : this.all());
  }

  /**
   * A cell about executions. It is empty for a span of a trace, whose executions are not known.
   * @param {any} cell
   * @returns {any[]}
   */
  executions(cell) {
    return this.model.isPart ? [] : [cell];
  }

  /** POMPROF's summary view: the highest value of each metric over the threads. */
  all() {
    const { model, own } = this;
    const text = stateOf("q").toLowerCase();
    if (this.find.value.toLowerCase() !== text) this.find.value = stateOf("q");
    const ran = new Set(model.paths.region);
    // Of a span of a trace, only what has time in it.
    const isIn = (/** @type {number} */ region) => !model.isPart || own.time[region] > 0;
    const regions = [...ran].filter(isIn).filter((region) => regionName(model, region).toLowerCase().includes(text) || (model.regions.function[region] ?? "").toLowerCase().includes(text));
    regions.sort((a, b) => own.time[b] - own.time[a]);
    const shown = regions.slice(0, MOST_ROWS);
    const highest = shown.map((region) => {
      const places = placesOfRegion(model, this.cells, region);
      const most = (/** @type {keyof typeof PLACE_NAMES} */ part) => places.reduce((high, place) => Math.max(high, place[part]), 0);
      return Object.fromEntries(PLACE_PARTS.map((part) => [part, most(part)]));
    });
    const present = PLACE_PARTS.filter((part) => highest.some((parts) => parts[part] > 0));
    const scale = Math.max(...highest.flatMap((parts) => Object.values(parts)), 1);
    const cell = (/** @type {number} */ value, /** @type {string} */ part) =>
      h("span", { class: "bar-cell" }, exact(value), partsBar([{ value, kind: `place-${part}` }], scale, ""));
    const rows = shown.map((region, index) => [
      regionLink(model, region), ...this.executions(exact(own.count[region], "")), exact(own.time[region]), exact(own.lost[region]),
      ...present.map((part) => cell(highest[index][part], part)),
    ]);
    const titles = ["Region", ...this.executions("Executions"), "Exclusive thread time", "Lost time", ...present.map((part) => `${PLACE_NAMES[part]}, most of a thread`)];
    const more = regions.length - shown.length;
    return [table("Regions, most exclusive thread time first", titles, rows), more > 0 ? h("p", { class: "said" }, `${counted(more, "more region")}: find them by name.`) : null];
  }

  /** @param {number} region */
  one(region) {
    const { regions } = this.model;
    const where = regions.function[region] === null ? "" : ` in ${regions.function[region]}`;
    const facts = [regions.schedule[region] ? h("p", {}, `Schedule: ${regions.schedule[region]}.`) : null,
      regions.directive[region] ? excerpt(regions.directive[region], "Directive") : null,
      regions.limits[region] ? h("p", { class: "note" }, regions.limits[region]) : null];
    const sourceLink = regions.first[region] > 0 ? link({ v: "source", f: String(regions.file[region]), line: String(regions.first[region]) }, "source") : null;
    return [
      h("h2", {}, regionName(this.model, region), where), h("p", {}, link({ r: "", q: "" }, "all regions"), " ", sourceLink), facts,
      this.leftOut(region), this.sentences(region), this.threads(region), this.instances(region), this.costs.filter((one) => one.region[1] === region).map(costs), this.arrivals(region), this.contention(region), this.counters(region), this.calls(region),
    ];
  }

  /**
   * The parts of this region's page that exist for the whole run only, if a span is shown.
   * @param {number} region
   */
  leftOut(region) {
    const { whole, isPart } = this.model;
    if (!isPart) return null;
    const has = (/** @type {any[]} */ list) => list.some((one) => one.region === region);
    const parts = [
      has(whole.instances) ? "times of instances" : "",
      has(whole.arrivals) ? "last arrivals" : "",
      whole.contention.some((/** @type {any} */ guard) => has(guard.sites)) ? "contention" : "",
      has(whole.properties) || has(whole.efficiency) ? "properties" : "",
      whole.sections.includes("iterations") ? "what iterations cost" : "",
      whole.metrics.some((/** @type {any} */ metric) => metric.id.startsWith("counter-")) ? "counters" : "",
    ].filter((part) => part !== "");
    return parts.length === 0 ? null : h("p", { class: "note" }, `Not filtered, and therefore left out: ${parts.join(", ")}. They are known for the whole run only.`);
  }

  /** @param {number} region */
  sentences(region) {
    const { properties, efficiency } = this.model;
    const told = properties.filter((/** @type {any} */ property) => property.region === region);
    const of = efficiency.find((/** @type {any} */ row) => row.region === region);
    return [
      told.map((/** @type {any} */ property) => h("p", {}, h("b", {}, percentage(property.percent)), ` ${property.sentence}`)),
      of && of.total !== null ? h("p", {}, `Of the time that its teams had, ${percentage(100 * of.total)} was useful; load balance ${percentage(100 * of.balance)}.`) : null,
    ];
  }

  /**
   * POMPROF's detail view.
   * @param {number} region
   */
  threads(region) {
    const places = placesOfRegion(this.model, this.cells, region);
    if (places.length === 0) return h("p", {}, "It did not run.");
    const by = stateOf("s", "thread");
    const part = PLACE_PARTS.find((one) => one === by);
    if (part) places.sort((a, b) => b[part] - a[part]);
    const name = (/** @type {number} */ thread) => (thread === 0 ? "sum over threads" : this.model.threads.name[thread - 1]);
    const present = PLACE_PARTS.filter((one) => places.some((place) => place[one] > 0));
    const most = Math.max(...places.map(placeTime));
    const strip = heat({
      label: "Threads by parts of the region",
      rows: present.map((one) => PLACE_NAMES[one]),
      columns: places.length,
      part: (row, column) => places[column][present[row]] / most,
      say: (row, column) => `${name(places[column].thread)}: ${PLACE_NAMES[present[row]]} ${time(places[column][present[row]])} of ${time(placeTime(places[column]))}`,
    });
    const rows = places.map((place) => [
      name(place.thread), ...this.executions(exact(place.count, "")), exact(placeTime(place)), ...present.map((one) => exact(place[one])),
      partsBar(present.map((one) => ({ value: place[one], kind: `place-${one}` })), most, ""),
    ]);
    const key = h("p", { class: "key" }, present.map((one) => [h("span", {}, h("i", { class: `place-${one}` }), PLACE_NAMES[one]), " "]));
    return [h("h2", {}, "Threads"), h("p", { class: "said" }, `A column is a thread. Yellow is ${time(most)}, the longest time of a thread.`), strip, key, table("What each thread did in it", ["Thread", ...this.executions("Executions"), "Time", ...present.map((one) => PLACE_NAMES[one]), ""], rows)];
  }

  /** @param {number} region */
  instances(region) {
    return this.model.instances.filter((/** @type {any} */ one) => one.region === region).map((/** @type {any} */ one) => {
      const most = Math.max(...one.histogram.map((/** @type {number[]} */ bucket) => bucket[2]));
      const rows = one.histogram.map((/** @type {number[]} */ [from, below, number]) => [
        `${time(from)} to ${time(below)}`, exact(number, ""), partsBar([{ value: number, kind: "place-work" }], most, `${number}`)]);
      const caption = `${counted(one.count, "instance")}: shortest ${time(one.min_ns)}, mean ${time(one.mean_ns)}, longest ${time(one.max_ns)}`;
      return [h("h2", {}, "Times of instances"), table(caption, ["Time", "Instances", ""], rows)];
    });
  }

  /** @param {number} region */
  arrivals(region) {
    return this.model.arrivals.filter((/** @type {any} */ one) => one.region === region).map((/** @type {any} */ one) => {
      const rows = one.threads.map((/** @type {number[]} */ [thread, last, late, first]) => [
        this.model.threads.name[thread], exact(last, ""), exact(late), first > 0 ? exact(first) : ""]);
      return [h("h2", {}, "Last arrivals"),
        table(`${counted(one.instances, "barrier")}; ${one.pattern}${one.others > 0 ? `; ${counted(one.others, "other thread")}` : ""}`,
          ["Thread", "Times last", "After the previous thread", "After the first"], rows)];
    });
  }

  /** @param {number} region */
  contention(region) {
    const { model } = this;
    const guards = model.contention.filter((/** @type {any} */ guard) => guard.sites.some((/** @type {any} */ site) => site.region === region));
    return guards.map((/** @type {any} */ guard) => {
      const holders = guard.sites.flatMap((/** @type {any} */ site) => site.holders.map((/** @type {any[]} */ [of, thread, waited, wait]) => [
        regionLink(model, site.region), thread === null ? "any thread" : model.threads.name[thread], regionLink(model, of), exact(waited, ""), exact(wait)]));
      const sites = guard.sites.map((/** @type {any} */ site) => [
        regionLink(model, site.region), exact(site.acquisitions, ""), exact(site.waited, ""), exact(site.wait_ns), exact(site.max_wait_ns), exact(site.hold_ns)]);
      return [h("h2", {}, `Contention: ${guard.kind} ${guard.name}`),
        table(`Entries: ${count(guard.acquisitions)}, ${count(guard.waited)}${guard.timed < guard.acquisitions ? ` of the ${count(guard.timed)} timed` : ""} waited: ${time(guard.wait_ns)}; held ${time(guard.hold_ns)}`,
          ["Place", "Entries", "Waited", "Time to get it", "Longest", "Held"], sites),
        holders.length > 0 ? table("Holders when others began to wait", ["Waiting at", "Holder", "Got it at", "Times", "Time"], holders) : null];
    });
  }

  /** @param {number} region */
  counters(region) {
    const { model, cells } = this;
    const sums = model.metrics.map(() => 0);
    model.paths.region.forEach((/** @type {number} */ of, /** @type {number} */ path) => {
      if (of === region) eachOf(cells, path + 1, (metric, _thread, value) => { sums[metric] += value; });
    });
    const rows = model.metrics.flatMap((/** @type {any} */ metric, /** @type {number} */ index) =>
      metric.id.startsWith("counter-") ? [[metric.name, exact(sums[index], "")]] : []);
    return rows.length > 0 ? [h("h2", {}, "Counters"), table("All threads, without the regions inside", ["Counter", "Count"], rows)] : null;
  }

  /** @param {number} region */
  calls(region) {
    const { region: regions, caller } = this.model.paths;
    const rows = regions.flatMap((/** @type {number} */ of, /** @type {number} */ path) => {
      if (of !== region) return [];
      const names = [];
      for (let up = path; up !== null; up = caller[up]) names.unshift(regionName(this.model, regions[up]));
      return [[link({ v: "explorer", c: `p${path}`, by: "path" }, names.join(" > "))]];
    });
    return [h("h2", {}, "Call paths"), table(counted(rows.length, "call path"), ["Call path"], rows.slice(0, MOST_ROWS))];
  }
}
