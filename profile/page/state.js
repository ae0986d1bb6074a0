// The state of the page, stored in the URL's fragment: a link shows the same view.

/** @type {Record<string, string>} */
let state = {};
/** @type {(() => void)[]} */
const listeners = [];

/**
 * @param {string} fragment
 * @returns {Record<string, string>}
 */
export function parseState(fragment) {
  return Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, "")));
}

/**
 * @param {Record<string, string>} values
 * @returns {string}
 */
export function stateFragment(values) {
  const present = Object.entries(values).filter(([, value]) => value !== "");
  return `#${new URLSearchParams(present)}`;
}

/**
 * @param {string} name
 * @param {string} [otherwise]
 * @returns {string}
 */
export function stateOf(name, otherwise = "") {
  return state[name] ?? otherwise;
}

/**
 * Changes the state. A new view gets an entry in the browser's history.
 * @param {Record<string, string>} changes
 */
export function change(changes) {
  const before = state.v;
  state = { ...state, ...changes };
  const fragment = stateFragment(state);
  if (state.v === before) history.replaceState(null, "", fragment);
  else history.pushState(null, "", fragment);
  for (const listener of listeners) listener();
}

/** @param {() => void} listener */
export function onChange(listener) {
  listeners.push(listener);
}

/** Reads the fragment, now and whenever it changes. */
export function followFragment() {
  const read = () => {
    state = parseState(location.hash);
    for (const listener of listeners) listener();
  };
  addEventListener("hashchange", read);
  addEventListener("popstate", read);
  read();
}

/**
 * A list of names in one value.
 * @param {string} name
 * @returns {Set<string>}
 */
export function listOf(name) {
  const text = stateOf(name);
  return new Set(text === "" ? [] : text.split("~").map(decodeURIComponent));
}

/**
 * @param {Iterable<string>} names
 * @returns {string}
 */
export function listText(names) {
  return [...names].map((name) => encodeURIComponent(name).replace(/~/g, "%7E")).join("~");
}
