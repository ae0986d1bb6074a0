// Three coupled trees. Each tree shows the values of the selection in the trees to its left.

import { h, fill } from "./dom.js";
import { amount, percentage } from "./format.js";
import { cellsOfOther } from "./shown.js";
import { callTree, locationTree, metricTree, placesOf, sumByMetric, sumByPath, sumByThread, valuesOf } from "./sums.js";
import { change, listOf, listText, stateOf } from "./state.js";
import { TreeView } from "./tree.js";

/** @typedef {{model: any, cells: import("./data.js").Cells}} Run */

const NAMES = { metric: "m", call: "c", location: "l" };
/** @typedef {"metric" | "call" | "location"} Which */

/** The forms in which numbers can be shown. */
const KINDS_OF_NUMBERS = [
  ["abs", "absolute"],
  ["root", "% of all"],
  ["selection", "% of what is selected to the left"],
  ["peers", "% of the largest beside it"],
];

const CALLS = [
  ["path", "call paths"],
  ["region", "regions"],
  ["kind", "kinds of construct"],
];

/**
 * @param {string} name in the link
 * @param {string} label
 * @param {string[][]} choices
 * @returns {HTMLElement}
 */
export function choice(name, label, choices) {
  const select = h("select", { name, onchange: (/** @type {any} */ event) => change({ [name]: event.target.value }) },
    choices.map(([value, text]) => h("option", { value }, text)));
  return h("label", {}, `${label} `, select);
}

/**
 * Shows the choice that the link contains.
 * @param {HTMLElement} label made by `choice`
 */
export function showChoice(label) {
  const select = /** @type {HTMLSelectElement} */ (label.querySelector("select"));
  select.value = stateOf(select.name, select.options[0]?.value);
}

/**
 * The value in the middle; the mean of the middle two for an even number of values.
 * @param {number[]} values
 * @returns {number}
 */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low + Math.floor((high - low) / 2);
}

/** The view with the three trees. */
export class Explorer {
  /** @param {Run} run */
  constructor({ model, cells }) {
    this.model = model;
    this.cells = cells;
    this.totals = sumByMetric(cells);
    const { metrics } = model;
    const isThere = (/** @type {number} */ metric) => this.totals[metric] > 0;
    const untold = sumByThread(cells, metrics.map((/** @type {any} */ _, /** @type {number} */ i) => i), null, model.threads.name.length + 1)[0];
    /** @type {Record<string, import("./sums.js").Tree>} */
    this.trees = {
      metric: metricTree(metrics, isThere),
      location: locationTree(model, untold > 0 && model.folded > 0),
    };
    /** @type {Record<string, Set<string>>} */
    this.defaults = {};
    const view = (/** @type {Which} */ which, /** @type {string} */ label) =>
      new TreeView(label, {
        select: (node) => change({ [NAMES[which]]: this.trees[which].nodes[node].id }),
        toggle: (node) => this.toggle(which, node),
        enter: (node) => this.enter(which, node),
      });
    this.views = { metric: view("metric", "Metrics"), call: view("call", "Calls"), location: view("location", "Threads") };
    this.by = "";
    this.find = h("input", {
      type: "search", class: "find", placeholder: "find ( / )", "aria-label": "Find a construct",
      oninput: () => this.seek(0),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter") this.seek(1);
        if (event.key === "Escape") this.views.call.host.focus();
      },
    });
    this.said = h("p", { class: "said", role: "status" });
    /** @type {import("./data.js").Cells[]} */
    this.others = [];
    const read = model.others.map((/** @type {any} */ _, /** @type {number} */ other) => cellsOfOther(model, other));
    if (read.length > 0) {
      Promise.all(read).then((others) => {
        this.others = others;
        this.show();
      });
    }
    this.choices = [choice("n", "Numbers", KINDS_OF_NUMBERS), choice("by", "Calls by", CALLS)];
    this.host = this.frame();
  }

  frame() {
    const pane = (/** @type {TreeView} */ view) => h("div", { class: "pane" }, h("h2", {}, view.label), view.host);
    const { others } = this.model;
    const beside = others.length > 0 ? h("p", { class: "said" }, `Beside each number in grey: before${others.length > 1 ? `, the median of ${others.length} runs` : ""}.`) : null;
    return h("section", { class: "view explorer", "aria-label": "Explorer" },
      h("div", { class: "tools" }, this.choices, this.find, beside),
      h("div", { class: "panes" }, pane(this.views.metric), pane(this.views.call), pane(this.views.location)),
      this.said);
  }

  /**
   * Opens or folds a node. The link contains the differences from the default.
   * @param {Which} which
   * @param {number} node
   */
  toggle(which, node) {
    const name = `x${NAMES[which]}`;
    const { id } = this.trees[which].nodes[node];
    const toggled = listOf(name);
    if (!toggled.delete(id)) toggled.add(id);
    change({ [name]: listText(toggled) });
  }

  /**
   * @param {Which} which
   * @param {number} node
   */
  enter(which, node) {
    const { region } = this.trees[which].nodes[node];
    if (region !== undefined) change({ v: "region", r: String(region) });
  }

  /**
   * Selects the next call whose name contains the searched text.
   * @param {number} step 0 to stay where it matches
   */
  seek(step) {
    const text = this.find.value.trim().toLowerCase();
    const { nodes } = this.trees.call;
    if (text === "") return;
    const at = Math.max(this.index("call"), 0);
    for (let number = step; number < nodes.length + step; number++) {
      const node = nodes[(at + number) % nodes.length];
      if (!node.label.toLowerCase().includes(text)) continue;
      const toggled = listOf("xc");
      for (let up = node.parent; up !== null; up = nodes[up].parent) {
        const isFolded = this.defaults.call.has(nodes[up].id) === toggled.has(nodes[up].id);
        if (isFolded && !toggled.delete(nodes[up].id)) toggled.add(nodes[up].id);
      }
      change({ c: node.id, xc: listText(toggled) });
      return;
    }
    fill(this.said, `No call is named like “${text}”.`);
  }

  /**
   * The selected node, or the first one if the link names no existing node.
   * @param {Which} which
   * @returns {number}
   */
  index(which) {
    const id = stateOf(NAMES[which], which === "metric" ? this.worst() : "");
    const node = this.trees[which].nodes.findIndex((one) => one.id === id);
    return node >= 0 ? node : which === "call" ? this.most() : 0;
  }

  /** The initial metric: the one with the largest loss. */
  worst() {
    const { nodes } = this.trees.metric;
    const { inclusive } = valuesOf(this.trees.metric, this.totals);
    const others = nodes.map((node, index) => ({ node, value: inclusive[index] }));
    const usual = ["work", "serial", "group-No work for threads"];
    const lost = others.filter(({ node }) => node.parent === 0 && !usual.includes(node.id));
    lost.sort((a, b) => b.value - a.value);
    return lost[0]?.node.id ?? "work";
  }

  /** The initial call: the one with the largest value. */
  most() {
    const metric = this.index("metric");
    const metrics = placesOf(this.trees.metric, metric, this.openness("metric")(metric));
    const { exclusive } = valuesOf(this.trees.call, sumByPath(this.cells, metrics, this.model.paths.region.length + 2));
    const most = exclusive.reduce((best, value, node) => (value > exclusive[best] ? node : best), 0);
    const isOpen = this.openness("call");
    let shown = most;
    for (let up = this.trees.call.nodes[most].parent; up !== null; up = this.trees.call.nodes[up].parent) {
      if (!isOpen(up)) shown = up;
    }
    return shown;
  }

  /**
   * @param {Which} which
   * @returns {(node: number) => boolean}
   */
  openness(which) {
    const toggled = listOf(`x${NAMES[which]}`);
    const { nodes } = this.trees[which];
    return (node) => nodes[node].children.length > 0 && this.defaults[which].has(nodes[node].id) !== toggled.has(nodes[node].id);
  }

  show() {
    const { model, cells } = this;
    const by = stateOf("by", "path");
    if (this.by !== by) {
      this.by = by;
      this.trees.call = callTree(model, by);
      this.open();
    }
    this.choices.forEach(showChoice);
    const metric = this.index("metric");
    const metrics = placesOf(this.trees.metric, metric, this.openness("metric")(metric));
    const unit = this.unit(metric);
    const call = this.index("call");
    const inCalls = new Set(placesOf(this.trees.call, call, this.openness("call")(call)));
    // The sums include calls that are only in other runs.
    const sums = (/** @type {import("./data.js").Cells} */ of) => ({
      metric: sumByMetric(of),
      call: sumByPath(of, metrics, model.paths.region.length + 2),
      location: sumByThread(of, metrics, inCalls, model.threads.name.length + 1),
    });
    const values = sums(cells);
    const others = this.others.map(sums);
    const all = this.base(metric);
    const chosen = { metric: all, call: 0, location: 0 };
    chosen.call = this.draw("metric", values, others, (node) => this.unit(node), all, (node) => this.base(node));
    chosen.location = this.draw("call", values, others, () => unit, chosen.call, () => all);
    this.draw("location", values, others, () => unit, chosen.location, () => all);
    const label = (/** @type {Which} */ which) => this.trees[which].nodes[this.index(which)]?.label;
    fill(this.said, `${label("metric")} in ${label("call")}: ${amount(chosen.location, unit)} of ${amount(all, unit)}`);
  }

  /**
   * The nodes that are open at first: those with at least a twentieth of the time, and
   * nodes above them.
   */
  open() {
    const { model, cells } = this;
    const times = model.metrics.flatMap((/** @type {any} */ metric, /** @type {number} */ index) => (metric.unit === "ns" ? [index] : []));
    const { inclusive } = valuesOf(this.trees.call, sumByPath(cells, times, model.paths.region.length + 2));
    const isLarge = (/** @type {number} */ node) => inclusive[node] >= inclusive[0] / 20;
    const open = this.trees.call.nodes.filter((node, index) => isLarge(index) && (node.parent === null || this.by === "path"));
    this.defaults.call = new Set(open.map((node) => node.id));
    this.defaults.metric = new Set(["time"]);
    const { nodes } = this.trees.location;
    const few = nodes.length <= 80;
    this.defaults.location = new Set(nodes.filter((node) => few || node.parent === null || node.own.length > 0).map((node) => node.id));
  }

  /** @param {number} node */
  unit(node) {
    const { own, id } = this.trees.metric.nodes[node];
    return id === "time" || own.length === 0 ? "ns" : this.model.metrics[own[0]].unit;
  }

  /**
   * The total to which a metric is compared.
   * @param {number} node
   */
  base(node) {
    const { nodes } = this.trees.metric;
    let root = node;
    for (let up = nodes[root].parent; up !== null; up = nodes[root].parent) root = up;
    return placesOf(this.trees.metric, root, false).reduce((sum, metric) => sum + this.totals[metric], 0);
  }

  /**
   * Draws a tree. Returns the value of the node that is selected there.
   * @param {Which} which
   * @param {Record<Which, ArrayLike<number>>} values
   * @param {Record<Which, ArrayLike<number>>[]} others the same of the runs before
   * @param {(node: number) => string} unit
   * @param {number} chosen the value of what is selected to the left
   * @param {(node: number) => number} base
   * @returns {number}
   */
  draw(which, values, others, unit, chosen, base) {
    const tree = this.trees[which];
    const isOpen = this.openness(which);
    const valuesShown = (/** @type {Record<Which, ArrayLike<number>>} */ of) => {
      const { exclusive, inclusive } = valuesOf(tree, of[which]);
      return (/** @type {number} */ node) => (isOpen(node) ? exclusive[node] : inclusive[node]);
    };
    const value = valuesShown(values);
    const then = others.map(valuesShown);
    // A construct that was not in the program before had no time there, not even none.
    const added = new Set(then.length > 0 ? this.model.comparison.added : []);
    const numbers = stateOf("n", "abs");
    const peers = (/** @type {number} */ node) => {
      const { parent } = tree.nodes[node];
      const beside = parent === null ? tree.roots : tree.nodes[parent].children;
      return beside.reduce((most, one) => Math.max(most, value(one)), 0);
    };
    const whole = (/** @type {number} */ node) =>
      numbers === "peers" ? peers(node) : numbers === "selection" && which !== "metric" ? chosen : base(node);
    const selected = this.index(which);
    const shown = (/** @type {number} */ node) => {
      const is = value(node);
      const title = `${is}${unit(node) === "ns" ? " ns" : ""}`;
      const text = numbers === "abs" ? amount(is, unit(node)) : percentage((100 * is) / whole(node));
      const most = numbers === "abs" && which !== "metric" ? chosen : whole(node);
      const was = then.length > 0 ? median(then.map((of) => of(node))) : null;
      const isNew = added.has(tree.nodes[node].region);
      const before = was === null ? null
        : isNew ? { text: "new", value: was, title: "not in the program before" }
        : { text: amount(was, unit(node)), value: was, title: `before: ${was}` };
      return { text, value: is, title, part: most > 0 ? is / most : 0, before };
    };
    this.views[which].set({ tree, isOpen, shown, selected });
    return value(selected);
  }
}
