// Creates elements. Names from the program are only inserted as text, never as markup.

/** @typedef {any} Child text, an element, nothing, or a list of them */

/**
 * An element with attributes and children. Attributes `on...` are event listeners.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * Replaces the children of an element.
 * @param {Element} host
 * @param {...Child} children
 */
export function fill(host, ...children) {
  const nodes = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  host.replaceChildren(...nodes.map((child) => (child instanceof Node ? child : String(child))));
}

/**
 * A table in which the first column contains the names of the rows.
 * @param {string} caption
 * @param {string[]} titles
 * @param {Child[][]} rows
 * @returns {HTMLTableElement}
 */
export function table(caption, titles, rows) {
  const cells = (/** @type {Child[]} */ row) =>
    row.map((cell, index) => (index === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell)));
  return h(
    "table",
    { class: "data" },
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, cells(row)))),
  );
}

/** The most rows of a list that are printed. */
export const MOST_PRINTED = 2000;

/**
 * Calls `tell` before and after the page is printed. Meanwhile, parts that are usually drawn
 * only as far as they are in sight must be drawn completely.
 * @param {(isPrinted: boolean) => void} tell
 */
export function onPrint(tell) {
  addEventListener("beforeprint", () => tell(true));
  addEventListener("afterprint", () => tell(false));
}
