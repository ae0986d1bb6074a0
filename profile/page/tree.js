// A tree of which only the visible rows are drawn.

import { MOST_PRINTED, h, fill, onPrint } from "./dom.js";
import { colour } from "./format.js";

const ROW_HEIGHT = 24;
/** The number of rows that are drawn beyond both ends of the screen. */
const BEYOND = 8;

/**
 * The data that a tree shows for a node.
 * @typedef {{text: string, value: number, title: string, part: number, before?: {text: string, value: number, title: string} | null}} Shown
 */

/** A tree that is drawn on demand. */
export class TreeView {
  /**
   * @param {string} label
   * @param {{select: (node: number) => void, toggle: (node: number) => void, enter: (node: number) => void}} on
   */
  constructor(label, on) {
    this.on = on;
    /** @type {import("./sums.js").Tree} */
    this.tree = { nodes: [], roots: [] };
    /** @type {{node: number, level: number, of: number, place: number}[]} */
    this.rows = [];
    /** @type {(node: number) => boolean} */
    this.isOpen = () => false;
    /** @type {(node: number) => Shown} */
    this.shown = () => ({ text: "", value: 0, title: "", part: 0 });
    this.selected = 0;
    this.label = label;
    this.inner = h("div", { class: "rows", role: "presentation" });
    this.host = h("div", { class: "tree", role: "tree", tabindex: 0, "aria-label": label }, this.inner);
    this.host.addEventListener("scroll", () => this.draw());
    this.host.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.host);
    onPrint((isPrinted) => this.draw(isPrinted));
  }

  /**
   * @param {{tree: import("./sums.js").Tree, isOpen: (node: number) => boolean, shown: (node: number) => Shown, selected: number}} what
   */
  set({ tree, isOpen, shown, selected }) {
    const moved = selected !== this.selected || tree !== this.tree;
    Object.assign(this, { tree, isOpen, shown, selected });
    this.rows = [];
    const add = (/** @type {number[]} */ nodes, /** @type {number} */ level) => {
      nodes.forEach((node, place) => {
        this.rows.push({ node, level, of: nodes.length, place: place + 1 });
        if (isOpen(node)) add(tree.nodes[node].children, level + 1);
      });
    };
    add(tree.roots, 1);
    this.inner.style.height = `${this.rows.length * ROW_HEIGHT}px`;
    if (moved) this.reveal();
    this.draw();
  }

  /** Scrolls until the selected row can be seen. */
  reveal() {
    const row = this.rows.findIndex((one) => one.node === this.selected);
    const top = row * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.host;
    if (row < 0 || clientHeight === 0) return;
    if (top < scrollTop) this.host.scrollTop = top;
    else if (top + ROW_HEIGHT > scrollTop + clientHeight) {
      this.host.scrollTop = top + ROW_HEIGHT - clientHeight;
    }
  }

  draw(isPrinted = false) {
    const first = isPrinted ? 0 : Math.max(Math.floor(this.host.scrollTop / ROW_HEIGHT) - BEYOND, 0);
    const number = isPrinted ? MOST_PRINTED : Math.ceil(this.host.clientHeight / ROW_HEIGHT) + 2 * BEYOND;
    const rows = this.rows.slice(first, first + number);
    fill(this.inner, rows.map((row, index) => this.row(row, first + index)));
    this.host.setAttribute("aria-activedescendant", this.rowId(this.selected));
  }

  /** @param {number} node */
  rowId(node) {
    return `${this.label.replace(/\W/g, "-")}-${node}`;
  }

  /**
   * @param {{node: number, level: number, of: number, place: number}} row
   * @param {number} index
   */
  row({ node, level, of, place }, index) {
    const { label, children, help } = this.tree.nodes[node];
    const { text, value, title, part, before } = this.shown(node);
    const isOpen = this.isOpen(node);
    const box = h("i", { class: "box" });
    box.style.background = value === 0 ? "transparent" : colour(part);
    const toggle = children.length > 0 ? (isOpen ? "▾" : "▸") : "";
    const element = h(
      "div",
      {
        class: "row",
        role: "treeitem",
        id: this.rowId(node),
        "aria-level": level,
        "aria-setsize": of,
        "aria-posinset": place,
        "aria-selected": node === this.selected ? "true" : "false",
        "aria-expanded": children.length > 0 ? String(isOpen) : null,
        "data-node": this.tree.nodes[node].id,
        title: help ?? label,
        onclick: () => this.on.select(node),
        ondblclick: () => this.on.enter(node),
      },
      h("button", { class: "toggle", tabindex: -1, "aria-hidden": "true", onclick: (/** @type {Event} */ event) => {
        event.stopPropagation();
        if (children.length > 0) this.on.toggle(node);
      } }, toggle),
      box,
      h("span", { class: value === 0 ? "num zero" : "num", "data-value": value, title }, text),
      before ? h("span", { class: "num before", "data-value": before.value, title: before.title }, before.text) : null,
      h("span", { class: "label" }, label),
    );
    element.style.top = `${index * ROW_HEIGHT}px`;
    element.style.paddingLeft = `${(level - 1) * 14}px`;
    return element;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = this.rows.findIndex((row) => row.node === this.selected);
    const { parent, children } = this.tree.nodes[this.selected] ?? { parent: null, children: [] };
    const isOpen = children.length > 0 && this.isOpen(this.selected);
    const go = (/** @type {number} */ row) => {
      const there = this.rows[Math.min(Math.max(row, 0), this.rows.length - 1)];
      if (there) this.on.select(there.node);
    };
    const page = Math.max(Math.floor(this.host.clientHeight / ROW_HEIGHT) - 1, 1);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      PageDown: () => go(at + page),
      PageUp: () => go(at - page),
      Home: () => go(0),
      End: () => go(this.rows.length - 1),
      ArrowRight: () => (isOpen ? go(at + 1) : children.length > 0 && this.on.toggle(this.selected)),
      ArrowLeft: () => {
        if (isOpen) this.on.toggle(this.selected);
        else if (parent !== null) this.on.select(parent);
      },
      " ": () => children.length > 0 && this.on.toggle(this.selected),
      Enter: () => this.on.enter(this.selected),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
