// A field of coloured cells, and the description of the cell under the pointer.

import { fill, h } from "./dom.js";
import { colour } from "./format.js";

/**
 * @typedef {object} Field
 * @property {string} label
 * @property {string[]} rows
 * @property {number} columns
 * @property {(row: number, column: number) => number} part from 0 to 1; NaN for nothing
 * @property {(row: number, column: number) => string} say
 * @property {(row: number, column: number) => void} [choose]
 */

const ROW = 20;

/**
 * Cells in rows with names. Arrow keys move between the cells, Enter chooses one.
 * @param {Field} field
 * @returns {HTMLElement}
 */
export function heat(field) {
  const { rows, columns } = field;
  const width = Math.max(Math.min(Math.floor(900 / Math.max(columns, 1)), 28), 3);
  const canvas = h("canvas", { width: columns * width, height: rows.length * ROW });
  const at = { row: 0, column: 0 };
  const said = h("p", { class: "said", role: "status" });
  const draw = (/** @type {boolean} */ isFocused) => {
    const context = canvas.getContext("2d");
    if (!context) return;
    context.clearRect(0, 0, canvas.width, canvas.height);
    rows.forEach((_, row) => {
      for (let column = 0; column < columns; column++) {
        const part = field.part(row, column);
        if (Number.isNaN(part)) continue;
        context.fillStyle = colour(part);
        context.fillRect(column * width, row * ROW, width - (width > 6 ? 1 : 0), ROW - 1);
      }
    });
    if (!isFocused) return;
    context.strokeStyle = "#ff00c8";
    context.lineWidth = 2;
    context.strokeRect(at.column * width + 1, at.row * ROW + 1, width - 2, ROW - 3);
  };
  // Whether cells stand behind the left and the right edge.
  const tellMore = () => {
    const { scrollLeft, clientWidth, scrollWidth } = box;
    const isThere = { left: scrollLeft > 0, right: scrollLeft + clientWidth < scrollWidth - 1 };
    edges.dataset.more = Object.entries(isThere).filter(([, is]) => is).map(([edge]) => edge).join(" ");
  };
  /** Scrolls until the current cell is in sight. */
  const reveal = () => {
    const [left, right] = [at.column * width, (at.column + 1) * width];
    box.scrollLeft = Math.min(Math.max(box.scrollLeft, right - box.clientWidth), left);
  };
  const go = (/** @type {number} */ row, /** @type {number} */ column) => {
    at.row = Math.min(Math.max(row, 0), rows.length - 1);
    at.column = Math.min(Math.max(column, 0), columns - 1);
    fill(said, field.say(at.row, at.column));
    draw(document.activeElement === box);
  };
  /** @param {MouseEvent} event */
  const point = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    go(Math.floor((event.clientY - top) / ROW), Math.floor((event.clientX - left) / width));
  };
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowLeft: () => go(at.row, at.column - 1),
    ArrowRight: () => go(at.row, at.column + 1),
    ArrowUp: () => go(at.row - 1, at.column),
    ArrowDown: () => go(at.row + 1, at.column),
    Home: () => go(at.row, 0),
    End: () => go(at.row, columns - 1),
    Enter: () => field.choose?.(at.row, at.column),
  };
  const box = h("div", {
    class: "heat-cells", tabindex: 0, role: "application", "aria-label": `${field.label}: arrows move, a table follows`,
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      act();
      reveal();
    },
    onscroll: tellMore,
    onfocus: () => go(at.row, at.column),
    onblur: () => draw(false),
    onmousemove: point,
    onclick: (/** @type {MouseEvent} */ event) => {
      point(event);
      field.choose?.(at.row, at.column);
    },
  }, canvas);
  const edges = h("div", { class: "heat-edges" }, box);
  new ResizeObserver(tellMore).observe(box);
  const names = h("div", { class: "heat-names", "aria-hidden": "true" }, rows.map((name) => h("div", { title: name }, name)));
  draw(false);
  return h("div", { class: "heat" }, h("div", { class: "heat-field" }, names, edges), said);
}

/**
 * A bar of parts, each with a class. Screen readers read its title. Without one they pass over
 * the bar: then what it shows stands beside it.
 * @param {{value: number, kind: string}[]} parts
 * @param {number} whole
 * @param {string} title
 * @returns {HTMLElement}
 */
export function partsBar(parts, whole, title) {
  const pieces = parts.map(({ value, kind }) => {
    const piece = h("i", { class: kind });
    piece.style.width = `${whole > 0 ? (100 * value) / whole : 0}%`;
    return piece;
  });
  const spoken = title === "" ? { "aria-hidden": "true" } : { title, role: "img", "aria-label": title };
  return h("span", { class: "parts", ...spoken }, pieces);
}
