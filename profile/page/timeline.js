// The timeline: the activity of each thread over time.

import { fill, h, table } from "./dom.js";
import { counted, exact, percentage, time } from "./format.js";
import { CLASSES, firstAbove, loadTimeline, regionsIn, rowsOf, selectedLanes, selectedSpan, timesIn } from "./spans.js";
import { regionLink } from "./region.js";
import { regionName } from "./sums.js";
import { change, listOf, listText } from "./state.js";

const LANE_HEIGHT = 22;
/** The colour of arrows that show how locks and critical sections are handed over. */
const HANDED_OVER = "#d55e00";
/** The colour of arrows from the end of a task to the begin of one that depends on it. */
const DEPENDS = "#56b4e9";
const COLOURS = ["", "#009e73", "#e69f00", "#cc79a7", "#0072b2"];
/** Text on these colours has a contrast of at least 4.5. */
const ON_COLOURS = ["", "#000", "#000", "#000", "#fff"];
/** With more chunks or arrows than this, none are drawn, since they would blur. */
const MOST_DRAWN = 3000;
/** With more arrows of a kind than this, they have no heads. */
const MOST_HEADS = 300;
/** The most rows of the tables. */
const MOST_LISTED = 30;

/** Threads as lanes over time. */
export class TimelineView {
  /** @param {import("./explorer.js").Run} run */
  constructor({ model }) {
    this.model = model;
    /** @type {any} */
    this.facts = null;
    /** @type {import("./spans.js").Lane[]} */
    this.lanes = [];
    /** @type {import("./spans.js").Row[]} */
    this.rows = [];
    this.canvas = h("canvas", {});
    this.names = h("div", { class: "lane-names" });
    this.said = h("p", { class: "said", role: "status" });
    this.panel = h("div", {});
    this.drag = { at: -1, isSpan: false };
    this.from = 0;
    this.to = 1;
    this.box = h("div", {
      class: "lanes", tabindex: 0, role: "application",
      "aria-label": "Timeline: arrows move, plus and minus zoom, Home shows all; a table of what is in sight follows",
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onwheel: (/** @type {WheelEvent} */ event) => {
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.at(event));
      },
      onpointerdown: (/** @type {PointerEvent} */ event) => {
        this.box.setPointerCapture(event.pointerId);
        this.drag = { at: this.at(event), isSpan: event.shiftKey };
      },
      onpointermove: (/** @type {PointerEvent} */ event) => this.moved(event),
      onpointerup: (/** @type {PointerEvent} */ event) => this.dropped(event),
    }, this.canvas);
    const key = CLASSES.slice(1).map((name, index) => {
      const box = h("i", {});
      box.style.background = COLOURS[index + 1];
      return [h("span", {}, box, name), " "];
    });
    const handed = h("i", {});
    handed.style.background = HANDED_OVER;
    const depends = h("i", {});
    depends.style.background = DEPENDS;
    const help = "Drag moves, the wheel zooms, shift and drag goes to a span; keys: arrows, +, -, Home. A click selects a thread. The other views show only the selected thread and the visible span; Esc shows all again.";
    this.host = h("section", { class: "view", "aria-label": "Timeline" },
      h("p", { class: "key" }, key, h("span", {}, handed, "handed over"), " ", h("span", {}, depends, "depends on")), h("p", { class: "key" }, help), this.said, h("div", { class: "timeline" }, this.names, this.box), this.panel);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  async show() {
    if (!this.facts) {
      const { facts, lanes } = await loadTimeline();
      Object.assign(this, { facts, lanes });
    }
    Object.assign(this, selectedSpan(this.facts.duration_ns));
    this.arrange();
    this.draw();
    this.tell();
  }

  /** Arranges ranks, teams and their threads as rows. A folded rank or team is one row. */
  arrange() {
    const folded = listOf("fold");
    this.rows = rowsOf(this.lanes.map(({ name }) => name), folded);
    const toggle = (/** @type {string} */ name) => {
      if (!folded.delete(name)) folded.add(name);
      change({ fold: listText(folded) });
    };
    const chosen = listOf("ln");
    const choose = (/** @type {string} */ name) => {
      if (!chosen.delete(name)) chosen.add(name);
      change({ ln: listText(chosen) });
    };
    fill(this.names, this.rows.map((row) => row.isGroup
      ? h("button", { "data-key": `team ${row.group}`, "aria-expanded": String(!folded.has(row.group)), onclick: () => toggle(row.group) }, `${folded.has(row.group) ? "▸" : "▾"} ${row.label}`)
      : h("button", { class: "lane", "data-key": `lane ${row.label}`, "aria-pressed": String(chosen.has(row.label)), title: "select this thread", onclick: () => choose(row.label) }, row.label)));
  }

  /**
   * The time under the pointer.
   * @param {MouseEvent} event
   */
  at(event) {
    const { left, width } = this.canvas.getBoundingClientRect();
    return this.from + ((event.clientX - left) / width) * (this.to - this.from);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  go(from, to) {
    const end = this.facts.duration_ns;
    const length = Math.min(Math.max(to - from, 10), end);
    const start = Math.round(Math.min(Math.max(from, 0), end - length));
    change({ t0: String(start), t1: String(Math.round(start + length)) });
  }

  /**
   * @param {number} factor
   * @param {number} at
   */
  zoom(factor, at) {
    this.go(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const length = this.to - this.from;
    const middle = this.from + length / 2;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.go(this.from - length / 5, this.to - length / 5),
      ArrowRight: () => this.go(this.from + length / 5, this.to + length / 5),
      "+": () => this.zoom(0.5, middle),
      "=": () => this.zoom(0.5, middle),
      "-": () => this.zoom(2, middle),
      Home: () => this.go(0, this.facts.duration_ns),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @param {PointerEvent} event */
  moved(event) {
    const at = this.at(event);
    if (this.drag.at >= 0 && !this.drag.isSpan) {
      this.go(this.from + this.drag.at - at, this.to + this.drag.at - at);
      return;
    }
    this.point(event, at);
  }

  /** @param {PointerEvent} event */
  dropped(event) {
    const { at, isSpan } = this.drag;
    this.drag = { at: -1, isSpan: false };
    const to = this.at(event);
    if (isSpan && at >= 0 && Math.abs(to - at) > 1) this.go(Math.min(at, to), Math.max(at, to));
  }

  /**
   * Describes the time under the pointer.
   * @param {MouseEvent} event
   * @param {number} at
   */
  point(event, at) {
    const { top } = this.canvas.getBoundingClientRect();
    const row = this.rows[Math.floor((event.clientY - top) / LANE_HEIGHT)];
    if (!row || row.isGroup) return;
    const lane = this.lanes[row.lanes[0]];
    const slice = firstAbove(lane.to, at);
    if (!this.facts.has_slices || !(lane.from[slice] <= at)) {
      fill(this.said, `${row.label} at ${time(Math.round(at))}`);
      return;
    }
    const what = lane.what[slice];
    const region = this.name(Math.floor(what / CLASSES.length) - 1);
    const chunk = lane.chunks.find((one) => one.from <= at && at < one.to);
    const iterations = chunk ? `, iterations ${chunk.first} to ${chunk.first + chunk.length - 1}` : "";
    fill(this.said, `${row.label}: ${CLASSES[what % CLASSES.length]}${region ? ` in ${region}` : ""}${this.depends(Math.floor(what / CLASSES.length) - 1)}, ${time(lane.to[slice] - lane.from[slice])} from ${lane.from[slice]} ns${iterations}`);
  }

  /**
   * The name of a region in all views.
   * @param {number} region
   * @param {string} [otherwise]
   * @returns {string}
   */
  name(region, otherwise = "") {
    const [text, index] = this.facts.regions[region] ?? [otherwise, null];
    return index === null ? text : regionName(this.model, index);
  }

  /**
   * The dependences of a region's tasks, by the names in the source.
   * @param {number} region
   * @returns {string}
   */
  depends(region) {
    const on = this.facts.regions[region]?.[4] ?? [];
    const event = this.isDetached(region) ? ", detached: complete when its event is fulfilled" : "";
    return (on.length > 0 ? `, depends on ${on.join(", ")}` : "") + event;
  }

  /**
   * Whether tasks of a region are complete when an event is fulfilled, and not when they end.
   * @param {number | null} region
   * @returns {boolean}
   */
  isDetached(region) {
    return this.facts.regions[region ?? -1]?.[5] ?? false;
  }

  draw() {
    if (!this.facts) return;
    const width = Math.max(this.box.clientWidth, 50);
    const scale = devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = this.rows.length * LANE_HEIGHT * scale;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.rows.length * LANE_HEIGHT}px`;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.scale(scale, scale);
    const perPixel = (this.to - this.from) / width;
    this.rows.forEach((row, index) => {
      const top = index * LANE_HEIGHT + 2;
      if (row.isGroup || !this.facts.has_slices || perPixel > this.facts.bin_ns) this.drawBins(context, row, top, width);
      else this.drawSlices(context, this.lanes[row.lanes[0]], top, width);
      if (!row.isGroup) this.drawChunks(context, this.lanes[row.lanes[0]], top, width);
    });
    this.drawArrows(context, width);
  }

  /**
   * Draws the classes of each pixel's time, stacked.
   * @param {CanvasRenderingContext2D} context
   * @param {import("./spans.js").Row} row
   * @param {number} top
   * @param {number} width
   */
  drawBins(context, row, top, width) {
    const { bin_ns: size, bins } = this.facts;
    const perPixel = (this.to - this.from) / width;
    const height = row.isGroup ? LANE_HEIGHT - 8 : LANE_HEIGHT - 4;
    for (let x = 0; x < width; x++) {
      const first = Math.floor((this.from + x * perPixel) / size);
      const last = Math.min(Math.max(Math.ceil((this.from + (x + 1) * perPixel) / size), first + 1), bins);
      const whole = (last - first) * size * row.lanes.length;
      let at = top + height;
      CLASSES.slice(1).forEach((_, kind) => {
        let sum = 0;
        for (const lane of row.lanes) for (let bin = first; bin < last; bin++) sum += this.lanes[lane].bins[kind][bin];
        const tall = (height * sum) / whole;
        context.fillStyle = COLOURS[kind + 1];
        context.fillRect(x, at - tall, 1, tall);
        at -= tall;
      });
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {import("./spans.js").Lane} lane
   * @param {number} top
   * @param {number} width
   */
  drawSlices(context, lane, top, width) {
    const perPixel = (this.to - this.from) / width;
    for (let at = firstAbove(lane.to, this.from); at < lane.from.length && lane.from[at] < this.to; at++) {
      const kind = lane.what[at] % CLASSES.length;
      if (kind === 0) continue;
      const left = Math.max((lane.from[at] - this.from) / perPixel, 0);
      const right = Math.min((lane.to[at] - this.from) / perPixel, width);
      context.fillStyle = COLOURS[kind];
      context.fillRect(left, top, Math.max(right - left, 0.3), LANE_HEIGHT - 4);
      const region = this.name(Math.floor(lane.what[at] / CLASSES.length) - 1);
      if (region && right - left > 60) {
        context.save();
        context.beginPath();
        context.rect(left, top, right - left, LANE_HEIGHT - 4);
        context.clip();
        context.fillStyle = ON_COLOURS[kind];
        context.font = "11px system-ui, sans-serif";
        context.fillText(region, left + 4, top + 13);
        context.restore();
      }
    }
  }

  /**
   * Marks where chunks begin, and writes their iterations if there is enough space.
   * @param {CanvasRenderingContext2D} context
   * @param {import("./spans.js").Lane} lane
   * @param {number} top
   * @param {number} width
   */
  drawChunks(context, lane, top, width) {
    const seen = lane.chunks.filter((chunk) => chunk.to > this.from && chunk.from < this.to);
    if (seen.length > MOST_DRAWN) return;
    const perPixel = (this.to - this.from) / width;
    context.font = "10px system-ui, sans-serif";
    for (const chunk of seen) {
      const left = (chunk.from - this.from) / perPixel;
      const long = (chunk.to - chunk.from) / perPixel;
      context.fillStyle = "#000";
      context.fillRect(left, top, 1, LANE_HEIGHT - 4);
      if (long > 90) {
        // On a ground of its own, at the end of the chunk: the region's name may stand at its begin.
        const text = `${chunk.first}..${chunk.first + chunk.length - 1}`;
        const wide = context.measureText(text).width + 6;
        const at = Math.min(left + long, width) - wide;
        context.fillStyle = "#fff";
        context.fillRect(at, top + 2, wide - 1, LANE_HEIGHT - 8);
        context.fillStyle = "#000";
        context.fillText(text, at + 3, top + LANE_HEIGHT - 9);
      }
    }
  }

  /**
   * Draws arrows from the creation of tasks to their execution, from the thread that released a
   * lock to the thread that had waited for it, and from the end of a task to the begin of one that
   * depends on it.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   */
  drawArrows(context, width) {
    this.drawLines(context, width, this.facts.arrows, "rgba(120, 120, 120, .7)");
    this.drawLines(context, width, this.facts.handovers, HANDED_OVER);
    this.drawLines(context, width, this.facts.dependences, DEPENDS);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number[][]} arrows from lane and time, to lane and time
   * @param {string} colour
   */
  drawLines(context, width, arrows, colour) {
    const seen = this.inSight(arrows);
    if (seen.length > MOST_DRAWN) return;
    const perPixel = (this.to - this.from) / width;
    const rows = new Map(this.rows.flatMap((one, index) => (one.isGroup ? [] : [[one.lanes[0], index]])));
    context.strokeStyle = colour;
    context.fillStyle = colour;
    for (const [start, from, end, to] of seen) {
      const [above, below] = [rows.get(start), rows.get(end)];
      if (above === undefined || below === undefined) continue;
      const [x, y] = [(to - this.from) / perPixel, below * LANE_HEIGHT + LANE_HEIGHT / 2];
      const [startX, startY] = [(from - this.from) / perPixel, above * LANE_HEIGHT + LANE_HEIGHT / 2];
      context.beginPath();
      context.moveTo(startX, startY);
      context.lineTo(x, y);
      context.stroke();
      if (seen.length <= MOST_HEADS) drawHead(context, x, y, Math.atan2(y - startY, x - startX));
    }
  }

  /**
   * @param {any[][]} arrows
   * @returns {any[][]}
   */
  inSight(arrows) {
    return arrows.filter(([, from, , to]) => to > this.from && from < this.to);
  }

  /** The visible hand-overs for which a thread waited longest. */
  handovers() {
    const selected = new Set(selectedLanes(this.lanes));
    const isSelected = (/** @type {number} */ lane) => selected.has(this.lanes[lane]);
    const seen = this.inSight(this.facts.handovers).filter(([from, , to]) => isSelected(from) || isSelected(to));
    if (seen.length === 0) return null;
    const longest = seen.sort((a, b) => b[3] - b[4] - (a[3] - a[4])).slice(0, MOST_LISTED);
    const rows = longest.map(([from, given, to, taken, asked, what]) =>
      [what, this.lanes[from].name, this.lanes[to].name, exact(given), exact(taken), exact(taken - asked)]);
    return table(`${counted(seen.length, "hand-over")} in sight, longest wait first`,
      ["What", "From", "To", "Given back at", "Got at", "Waited"], rows);
  }

  /** The visible dependences of tasks, in the order in which the waiting tasks began. */
  dependences() {
    const selected = new Set(selectedLanes(this.lanes));
    const isSelected = (/** @type {number} */ lane) => selected.has(this.lanes[lane]);
    const seen = this.inSight(this.facts.dependences).filter(([from, , to]) => isSelected(from) || isSelected(to));
    if (seen.length === 0) return null;
    const name = (/** @type {number | null} */ region) => this.name(region ?? -1, "a task");
    const rows = seen.sort((a, b) => a[3] - b[3]).slice(0, MOST_LISTED).map(([from, ended, to, began, before, after]) =>
      [name(before), this.lanes[from].name, exact(ended), name(after), this.lanes[to].name, exact(began), exact(began - ended)]);
    const hasEvent = seen.some(([, , , , before]) => this.isDetached(before));
    const said = "A detached task is complete when its event is fulfilled. The trace does not tell when that was, so its arrow begins where the task's code ended.";
    return [table(`${counted(seen.length, "dependence")} in sight, by the begin of the task that waited`,
      ["Predecessor", "Thread", "Ended at", "Dependent task", "Thread", "Began at", "Delay"], rows),
      hasEvent ? h("p", { class: "said" }, said) : null];
  }

  /** Describes the visible span in words and numbers. */
  tell() {
    const { facts, from, to } = this;
    const seen = `${time(to - from)} from ${from} ns to ${to} ns`;
    const limits = [
      facts.has_slices ? "" : `Of its ${counted(facts.slices, "slice")} there are ${counted(facts.bins, "bin")} of ${time(facts.bin_ns)}.`,
      facts.has_chunks ? "" : "Chunks are left out, since there are too many.",
      facts.arrows_left_out ? "Arrows of tasks are left out, since there are too many." : "",
      facts.has_dependences ? "" : "Dependences of tasks are left out, since there are too many events.",
      facts.has_handovers ? "" : "Hand-overs of locks and critical sections are left out, since there are too many events.",
    ];
    fill(this.said, `In sight: ${seen}. ${limits.join(" ")}`);
    const value = (/** @type {number} */ ns) => [exact(Math.round(ns)), " ", h("span", { class: "interval" }, percentage((100 * ns) / (to - from)))];
    const lanes = selectedLanes(this.lanes);
    const rows = lanes.map((lane) => [lane.name, ...timesIn(lane, facts, from, to).map(value)]);
    const regions = facts.has_slices ? regionsIn(lanes, from, to).slice(0, MOST_LISTED) : [];
    const name = (/** @type {number} */ region) => {
      const [text, index] = facts.regions[region] ?? ["no region", null];
      return [index === null ? text : regionLink(this.model, index), this.depends(region)];
    };
    fill(this.panel, h("h2", {}, "In sight"),
      table("Threads", ["Thread", ...CLASSES], rows),
      regions.length > 0 ? table("Regions, most time first", ["Region", "What", "Time"], regions.map((one) => [name(one.region), CLASSES[one.kind], exact(one.time)])) : null,
      this.dependences(), this.handovers());
  }
}

/**
 * Draws the head of an arrow.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} angle
 */
function drawHead(context, x, y, angle) {
  const long = 7;
  context.beginPath();
  context.moveTo(x, y);
  for (const side of [-0.45, 0.45]) context.lineTo(x - long * Math.cos(angle + side), y - long * Math.sin(angle + side));
  context.fill();
}
