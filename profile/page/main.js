// Starts after the first screen is painted.

import { h, fill, wide } from "./dom.js";
import { readCells, section, sectionText } from "./data.js";
import { Explorer } from "./explorer.js";
import { CompareView } from "./compare.js";
import { RegionView } from "./region.js";
import { SourceView } from "./source.js";
import { NO_SELECTION, Selected } from "./selected.js";
import { shownKey, shownRun } from "./shown.js";
import { ThreadsView } from "./threads.js";
import { TimelineView } from "./timeline.js";
import { change, followFragment, onChange, stateOf } from "./state.js";

/** @typedef {{host: HTMLElement, show: () => void, find?: HTMLElement}} View */

/** The view that requires other runs, and the view that requires a trace. */
const COMPARE = "compare";
const TIMELINE = "timeline";
/** These views always show the whole run. */
const OF_ALL = new Set([COMPARE, TIMELINE]);

/** The views: the name, the title, and a function that creates the view. */
/** @type {[string, string, (run: import("./explorer.js").Run) => View][]} */
let views = [
  ["explorer", "Explorer", (run) => new Explorer(run)],
  ["region", "Regions", (run) => new RegionView(run)],
  ["source", "Source", (run) => new SourceView(run)],
  ["threads", "Threads", (run) => new ThreadsView(run)],
  [COMPARE, "Compare", (run) => new CompareView(run)],
  [TIMELINE, "Timeline", (run) => new TimelineView(run)],
];

const HELP = [
  ["1 to 7", "the views, from left to right"],
  ["Tab, Shift and Tab", "the next and the previous tree, picture, choice, link or button"],
  ["/", "find"],
  ["arrows, Home, End, Page up and down", "move in a tree; right opens, left folds"],
  ["arrows, Home, End", "move in a picture, which says what is there"],
  ["left, right, +, -, Home", "in the timeline: move, zoom, show all"],
  ["up, down", "in a choice: another run, what is compared, how it is shown"],
  ["Enter", "the page of the region; follow a link"],
  ["Alt and left", "back to the view before"],
  ["Esc", "close this, leave a field, end the selection, back to the overview"],
  ["?", "this help"],
];

/** @type {Map<string, View>} */
const made = new Map();
/** The key of the run that the created views show. */
let shown = "";

/**
 * The view, if it was created and shows the right run.
 * @param {string} name
 * @param {any} model
 * @returns {View | undefined}
 */
function viewThere(name, model) {
  const wanted = shownKey(model);
  if (shown !== wanted) for (const one of made.keys()) if (!OF_ALL.has(one)) made.delete(one);
  shown = wanted;
  return made.get(name);
}

/**
 * Creates a view.
 * @param {string} name
 * @param {import("./explorer.js").Run} run
 * @returns {Promise<View | null>} null if meanwhile something else is asked for
 */
async function makeView(name, run) {
  const wanted = shown;
  const what = OF_ALL.has(name) ? run : await shownRun(run);
  if (shown !== wanted || stateOf("v") !== name) return null;
  const make = views.find(([one]) => one === name)?.[2];
  const view = made.get(name) ?? /** @type {View} */ (make?.(what));
  made.set(name, view);
  return view;
}

/** @param {import("./explorer.js").Run} run */
async function showView(run) {
  const names = views.map(([name]) => name);
  const wanted = stateOf("v", "overview");
  const name = names.includes(wanted) ? wanted : "overview";
  const overview = /** @type {HTMLElement} */ (document.getElementById("view-overview"));
  overview.hidden = name !== "overview";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("data-view") === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const app = /** @type {HTMLElement} */ (document.getElementById("app"));
  if (name === "overview") {
    fill(app);
    return;
  }
  const view = viewThere(name, run.model) ?? (await makeView(name, run));
  if (!view) return;
  if (view.host.parentNode !== app) fill(app, view.host);
  view.show();
}

function navigation() {
  const link = (/** @type {string} */ name, /** @type {string} */ label) =>
    h("a", { href: `#v=${name}`, "data-view": name, onclick: (/** @type {Event} */ event) => {
      event.preventDefault();
      change({ v: name });
    } }, label);
  const help = h("dialog", { id: "help", "aria-label": "Keys" },
    h("h2", {}, "Keys"),
    h("dl", {}, HELP.flatMap(([key, what]) => [h("dt", {}, key), h("dd", {}, what)])),
    h("form", { method: "dialog" }, h("button", {}, "Close")));
  const nav = h("nav", { "aria-label": "Views" }, link("overview", "Overview"),
    views.map(([name, label]) => link(name, label)),
    h("button", { onclick: () => help.showModal(), "aria-label": "Keys" }, "?"));
  document.querySelector("header")?.after(nav);
  document.body.append(help);
  addEventListener("keydown", (event) => pressed(event, help));
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLDialogElement} help
 */
function pressed(event, help) {
  const target = /** @type {HTMLElement} */ (event.target);
  const isTyping = target.matches("input, select, textarea");
  if (event.altKey || event.ctrlKey || event.metaKey || help.open) return;
  if (event.key === "Escape") {
    if (isTyping) target.blur();
    else if (stateOf("t0") + stateOf("t1") + stateOf("ln") !== "") change(NO_SELECTION);
    else change({ v: "overview" });
    return;
  }
  if (isTyping) return;
  const wanted = ["overview", ...views.map(([name]) => name)][Number(event.key) - 1];
  if (event.key === "?") help.showModal();
  else if (event.key === "/") find();
  else if (wanted) change({ v: wanted });
  else return;
  event.preventDefault();
}

/** Focuses the search field of this view, or else that of the explorer. */
function find() {
  if (!made.get(stateOf("v"))?.find) change({ v: "explorer" });
  made.get(stateOf("v"))?.find?.focus();
}

/** The first screen's excerpts of the source, which are there without a script. */
function excerpts() {
  for (const lines of document.querySelectorAll("pre.excerpt")) {
    const place = lines.closest("li")?.querySelector("a")?.textContent ?? "";
    wide(/** @type {HTMLElement} */ (lines), `Source of ${place}`);
  }
}

async function begin() {
  excerpts();
  const model = JSON.parse(await sectionText("model"));
  const cells = readCells(await section("cells"), model.paths.region.length + 1, model.metrics.length);
  const isThere = (/** @type {string} */ name) =>
    name === COMPARE ? model.others.length > 0 : name === TIMELINE ? model.sections.includes("timeline") : true;
  views = views.filter(([name]) => isThere(name));
  navigation();
  const selected = new Selected({ model, cells });
  document.querySelector("nav")?.after(selected.host);
  /** @type {Promise<void>} */
  let isShown = Promise.resolve();
  onChange(() => {
    isShown = showView({ model, cells });
    selected.show();
  });
  followFragment();
  await isShown;
  document.body.dataset.ready = "yes";
}

// After the browser has painted the existing elements.
requestAnimationFrame(() => setTimeout(begin));
