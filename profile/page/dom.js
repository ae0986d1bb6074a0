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
 * The key of an element among its neighbours. It stays the same however often they are drawn anew.
 * @param {Element} element
 */
function keyOf(element) {
  return element.getAttribute("data-key") ?? element.getAttribute("href");
}

/**
 * Replaces the children of an element. The focus stays where it is, as a user of the keyboard sees it.
 * @param {Element} host
 * @param {...Child} children
 */
export function fill(host, ...children) {
  const focused = document.activeElement;
  const key = focused && host.contains(focused) ? keyOf(focused) : null;
  const nodes = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  host.replaceChildren(...nodes.map((child) => (child instanceof Node ? child : String(child))));
  if (key === null || focused?.isConnected) return;
  const again = [...host.querySelectorAll(focused?.tagName ?? "")].find((one) => keyOf(one) === key);
  /** @type {HTMLElement | undefined} */ (again)?.focus({ preventScroll: true });
}

/**
 * Lets the focus stop at an element that is wider than the screen, and only there: the arrow keys move it.
 * @param {HTMLElement} host
 * @param {string} name
 */
function reachIfWide(host, name) {
  const isWide = host.scrollWidth > host.clientWidth;
  if (isWide === host.hasAttribute("tabindex")) return;
  for (const [attribute, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": name })) {
    if (isWide) host.setAttribute(attribute, value);
    else host.removeAttribute(attribute);
  }
}

/**
 * The element scrolls sideways where it is wider than the screen. Then keys move it, and a shadow says so.
 * @param {HTMLElement} host
 * @param {string} name for screen readers
 */
export function wide(host, name) {
  host.classList.add("wide");
  const sizes = new ResizeObserver(() => reachIfWide(host, name));
  for (const one of [host, ...host.children]) sizes.observe(one);
  return host;
}

/**
 * Lines of the source.
 * @param {string} text
 * @param {string} name for screen readers
 */
export function excerpt(text, name) {
  return wide(h("pre", { class: "excerpt" }, h("span", {}, text)), name);
}

/**
 * A table in which the first column contains the names of the rows. It stands in an element that scrolls sideways.
 * @param {string} caption
 * @param {string[]} titles
 * @param {Child[][]} rows
 * @returns {HTMLElement}
 */
export function table(caption, titles, rows) {
  const cells = (/** @type {Child[]} */ row) =>
    row.map((cell, index) => (index === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell)));
  const body = h("tbody", {}, rows.map((row) => h("tr", {}, cells(row))));
  // The title of a column stands above what it contains: numbers at the right, words at the left.
  const isWords = (/** @type {number} */ column) => body.rows.length > 0 && !body.querySelector(`td:nth-child(${column + 1}) .num`);
  const head = titles.map((title, column) => h("th", { scope: "col", class: isWords(column) ? "words" : null }, title));
  const data = h("table", { class: "data" }, h("caption", {}, caption), h("thead", {}, h("tr", {}, head)), body);
  return wide(h("div", {}, data), caption);
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
