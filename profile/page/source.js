// The program's files. Bars in the margin show the time of each construct and function.

import { MOST_PRINTED, fill, h, onPrint } from "./dom.js";
import { sectionText } from "./data.js";
import { time } from "./format.js";
import { partsBar } from "./heat.js";
import { ownByRegion } from "./places.js";
import { regionName } from "./sums.js";
import { change, stateOf } from "./state.js";

const LINE_HEIGHT = 19;

/** The colours of a bar. */
const KEY = [["place-work", "work"], ["place-barrier", "lost"]];

/** The view of the source. */
export class SourceView {
  /** @param {import("./explorer.js").Run} run */
  constructor({ model, cells }) {
    this.model = model;
    this.own = ownByRegion(model, cells);
    this.names = model.regions.files.map((/** @type {string[]} */ [name]) => name);
    this.found = new Map(model.sources.map((/** @type {[string, boolean, string]} */ [name, hasText, note], /** @type {number} */ section) => [name, { hasText, note, section }]));
    this.file = "";
    /** @type {string[]} */
    this.lines = [];
    /** @type {Map<number, number[]>} */
    this.regions = new Map();
    this.choice = h("select", { "aria-label": "File", onchange: () => change({ f: this.choice.value, line: "" }) });
    this.note = h("p", { class: "note", role: "status" });
    this.inner = h("div", { class: "rows", role: "presentation" });
    this.box = h("div", { class: "source wide", tabindex: 0, role: "group", "aria-label": "Source", onscroll: () => this.draw() }, this.inner);
    new ResizeObserver(() => this.draw()).observe(this.box);
    onPrint((isPrinted) => this.draw(isPrinted));
    const key = h("span", { class: "key" }, KEY.map(([kind, what]) => h("span", {}, h("i", { class: kind }), what)));
    this.host = h("section", { class: "view", "aria-label": "Source" }, h("div", { class: "tools" }, this.choice, key), this.note, this.box);
    const time = new Float64Array(this.names.length);
    model.regions.file.forEach((/** @type {number} */ file, /** @type {number} */ region) => { time[file] += this.own.time[region]; });
    const ran = new Set(model.paths.region.map((/** @type {number} */ region) => model.regions.file[region]));
    ran.delete(-1);
    this.files = [...ran].sort((a, b) => time[b] - time[a]);
    fill(this.choice, this.files.map((file) => h("option", { value: file }, this.names[file])));
  }

  show() {
    const wanted = stateOf("f", String(this.files[0] ?? ""));
    this.choice.value = wanted;
    if (this.file === wanted) this.reveal();
    else this.load(wanted);
  }

  /** @param {string} wanted */
  async load(wanted) {
    this.file = wanted;
    const file = Number(wanted);
    const found = this.found.get(this.names[file]) ?? { hasText: false, note: "The page was written without source." };
    fill(this.note, found.note ?? "");
    const text = found.hasText ? await sectionText(`source-${found.section}`) : "";
    if (this.file !== wanted) return;
    this.lines = text.split("\n");
    this.regions = new Map();
    const ran = new Set(this.model.paths.region);
    this.model.regions.first.forEach((/** @type {number} */ line, /** @type {number} */ region) => {
      if (this.model.regions.file[region] !== file || !ran.has(region)) return;
      this.regions.set(line, [...(this.regions.get(line) ?? []), region]);
    });
    // Without the file's text, only the constructs are shown.
    if (!found.hasText) this.lines = [];
    const last = Math.max(this.lines.length, ...this.regions.keys(), 0);
    this.numbers = found.hasText ? null : [...this.regions.keys()].sort((a, b) => a - b);
    this.inner.style.height = `${(this.numbers?.length ?? last) * LINE_HEIGHT}px`;
    this.draw();
    this.reveal();
  }

  /** The line whose constructs took the most time. */
  worst() {
    const time = (/** @type {number[]} */ regions) => regions.reduce((sum, region) => sum + this.own.time[region], 0);
    const lines = [...this.regions.entries()].filter(([line]) => line > 0).sort(([, a], [, b]) => time(b) - time(a));
    return lines[0]?.[0] ?? 0;
  }

  /** Scrolls to the line in the link, or to the line that took the most time. */
  reveal() {
    const line = Number(stateOf("line")) || this.worst();
    if (!(line > 0)) return;
    const row = this.numbers ? this.numbers.indexOf(line) : line - 1;
    this.box.scrollTop = Math.max(row * LINE_HEIGHT - this.box.clientHeight / 3, 0);
    this.draw();
  }

  draw(isPrinted = false) {
    const first = isPrinted ? 0 : Math.max(Math.floor(this.box.scrollTop / LINE_HEIGHT) - 10, 0);
    const number = isPrinted ? MOST_PRINTED : Math.ceil(this.box.clientHeight / LINE_HEIGHT) + 20;
    const size = this.numbers?.length ?? this.lines.length;
    const rows = [];
    const most = Math.max(...[...this.regions.values()].flat().map((region) => this.own.time[region]), 1);
    for (let row = first; row < Math.min(first + number, size); row++) rows.push(this.row(row, most));
    fill(this.inner, rows);
  }

  /**
   * @param {number} row
   * @param {number} most
   */
  row(row, most) {
    const line = this.numbers?.[row] ?? row + 1;
    const here = this.regions.get(line) ?? [];
    const marks = here.map((region) => {
      const lost = this.own.lost[region];
      const all = this.own.time[region];
      const title = `${regionName(this.model, region)}: ${time(all)} of thread time, ${time(lost)} of it lost`;
      return h("a", { class: "mark", href: `#v=region&r=${region}`, title, onclick: (/** @type {Event} */ event) => {
        event.preventDefault();
        change({ v: "region", r: String(region) });
      } }, time(all), partsBar([{ value: all - lost, kind: KEY[0][0] }, { value: lost, kind: KEY[1][0] }], most, title));
    });
    const isHere = Number(stateOf("line")) === line;
    const text = this.numbers ? here.map((region) => this.model.regions.directive[region] ?? regionName(this.model, region)).join("; ") : this.lines[row];
    const element = h("div", { class: isHere ? "line here" : "line" }, h("span", { class: "margin" }, marks), h("i", {}, line), h("code", {}, text));
    element.style.top = `${row * LINE_HEIGHT}px`;
    return element;
  }
}
