// The three trees, and sums of cells over them. This module does not draw.

/**
 * @typedef {object} TreeNode
 * @property {string} id what a link says
 * @property {string} label
 * @property {string} [help]
 * @property {number | null} parent
 * @property {number[]} children
 * @property {number[]} own places in what is summed up
 * @property {number} [region]
 */

/**
 * Nodes, parents before children.
 * @typedef {{nodes: TreeNode[], roots: number[]}} Tree
 */

/** @typedef {any} Model what the page knows of a run, see model.rs */
/** @typedef {import("./data.js").Cells} Cells */

/** @returns {Tree} */
function emptyTree() {
  return { nodes: [], roots: [] };
}

/**
 * @param {Tree} tree
 * @param {number | null} parent
 * @param {string} id
 * @param {string} label
 * @param {Partial<TreeNode>} [more]
 * @returns {number}
 */
function addNode(tree, parent, id, label, more = {}) {
  const here = tree.nodes.length;
  tree.nodes.push({ id, label, parent, children: [], own: [], ...more });
  if (parent === null) tree.roots.push(here);
  else tree.nodes[parent].children.push(here);
  return here;
}

/**
 * Metrics: thread time by groups, and counts.
 * @param {import("./data.js").Metric[]} metrics
 * @param {(metric: number) => boolean} isThere whether there is a value
 * @returns {Tree}
 */
export function metricTree(metrics, isThere) {
  const tree = emptyTree();
  const help = "Every nanosecond of the program's threads, once: elapsed time x threads.";
  const root = addNode(tree, null, "time", "Thread time", { help });
  let group = -1;
  let name = "";
  metrics.forEach((metric, index) => {
    if (!isThere(index)) return;
    if (metric.unit !== "ns") {
      addNode(tree, null, metric.id, metric.name, { own: [index], help: metric.help });
    } else if (metric.group === metric.name) {
      addNode(tree, root, metric.id, metric.name, { own: [index], help: metric.help });
    } else {
      if (name !== metric.group) {
        group = addNode(tree, root, `group-${metric.group}`, metric.group);
        name = metric.group;
      }
      addNode(tree, group, metric.id, metric.name, { own: [index], help: metric.help });
    }
  });
  return tree;
}

/**
 * The name of a region.
 * @param {Model} model
 * @param {number} region
 * @returns {string}
 */
export function regionName(model, region) {
  const { regions } = model;
  const kind = regions.kinds[regions.kind[region]];
  const name = regions.name[region];
  if (kind === "FUNCTION" && name !== null) return `${name}()`;
  const file = regions.files[regions.file[region]]?.[1] ?? "";
  const line = regions.first[region];
  const at = file === "" ? "" : line === 0 ? ` in ${file}` : ` ${file}:${line}`;
  return `${kind}${name === null ? "" : ` "${name}"`}${at}`;
}

/**
 * Call paths, either as they are, or by region, or by kind of construct. Sums are over paths.
 * The program is the first path. With other runs, the last path collects everything that only
 * they have.
 * @param {Model} model
 * @param {string} by `path`, `region` or `kind`
 * @returns {Tree}
 */
export function callTree(model, by) {
  const tree = callsOf(model, by);
  const own = [model.paths.region.length + 1];
  if (model.others.length > 0) addNode(tree, tree.roots[0], "gone", "constructs that are not in this run", { own });
  return tree;
}

/**
 * @param {Model} model
 * @param {string} by
 * @returns {Tree}
 */
function callsOf(model, by) {
  const tree = emptyTree();
  const program = model.application || "program";
  const root = addNode(tree, null, "program", program, { own: [0] });
  const { region, caller } = model.paths;
  if (by === "path") {
    region.forEach((/** @type {number} */ of, /** @type {number} */ path) => {
      const parent = caller[path] === null ? root : caller[path] + 1;
      addNode(tree, parent, `p${path}`, regionName(model, of), { own: [path + 1], region: of });
    });
    return tree;
  }
  /** @type {Map<number, number>} */
  const kinds = new Map();
  /** @type {Map<number, number>} */
  const places = new Map();
  region.forEach((/** @type {number} */ of, /** @type {number} */ path) => {
    let place = places.get(of);
    if (place === undefined) {
      let parent = root;
      const kind = model.regions.kind[of];
      if (by === "kind") {
        parent = kinds.get(kind) ?? addNode(tree, root, `k${kind}`, model.regions.kinds[kind]);
        kinds.set(kind, parent);
      }
      place = addNode(tree, parent, `r${of}`, regionName(model, of), { region: of });
      places.set(of, place);
    }
    tree.nodes[place].own.push(path + 1);
  });
  return tree;
}

/**
 * Machine, ranks, teams, threads. Sums are over threads. Thread 0 stands for threads that are
 * not told apart.
 * @param {Model} model
 * @param {boolean} isFolded whether some are not told apart
 * @returns {Tree}
 */
export function locationTree(model, isFolded) {
  const tree = emptyTree();
  const root = addNode(tree, null, "all", model.host ? `all threads on ${model.host}` : "all threads");
  /** @type {Map<string, number>} */
  const known = new Map();
  const inOrder = model.threads.name.map((/** @type {string} */ name, /** @type {number} */ index) => ({ name, index }));
  const depth = (/** @type {string} */ name) => name.split("->").length;
  inOrder.sort((/** @type {any} */ a, /** @type {any} */ b) => depth(a.name) - depth(b.name) || a.index - b.index);
  const rankOf = (/** @type {number | null} */ rank) => {
    if (rank === null) return root;
    const id = `rank${rank}`;
    const there = known.get(id) ?? addNode(tree, root, id, `rank ${rank}`);
    known.set(id, there);
    return there;
  };
  for (const { name, index } of inOrder) {
    const parts = name.split("->");
    const last = parts.pop();
    let parent = rankOf(model.threads.rank[index]);
    if (parts.length > 0) {
      const forker = parts.join("->");
      const team = `team-${forker}`;
      parent =
        known.get(team) ?? addNode(tree, known.get(forker) ?? parent, team, `team of ${forker}`);
      known.set(team, parent);
    }
    const label = parts.length > 0 ? `${parts.join("->")}->${last}` : `thread ${name}`;
    known.set(name, addNode(tree, parent, `t${name}`, label, { own: [index + 1] }));
  }
  const help = "No thread, or the page has only the sum over the threads.";
  addNode(tree, root, "untold", isFolded ? "no thread, or sum over threads" : "no thread", { own: [0], help });
  return tree;
}

/**
 * Sums of some metrics by path.
 * @param {Cells} cells
 * @param {number[]} metrics
 * @param {number} paths
 * @returns {Float64Array}
 */
export function sumByPath(cells, metrics, paths) {
  const sums = new Float64Array(paths);
  for (const metric of metrics) {
    const { entry, value } = cells.metrics[metric];
    for (let at = 0; at < entry.length; at++) sums[cells.path[entry[at]]] += value[at];
  }
  return sums;
}

/**
 * Sums of some metrics on some paths by thread.
 * @param {Cells} cells
 * @param {number[]} metrics
 * @param {Set<number> | null} paths all if null
 * @param {number} threads with those that are not told apart
 * @returns {Float64Array}
 */
export function sumByThread(cells, metrics, paths, threads) {
  const sums = new Float64Array(threads);
  for (const metric of metrics) {
    const { entry, value } = cells.metrics[metric];
    for (let at = 0; at < entry.length; at++) {
      if (paths === null || paths.has(cells.path[entry[at]])) {
        sums[cells.thread[entry[at]]] += value[at];
      }
    }
  }
  return sums;
}

/**
 * The sum of each metric.
 * @param {Cells} cells
 * @returns {number[]}
 */
export function sumByMetric(cells) {
  return cells.metrics.map(({ value }) => value.reduce((sum, one) => sum + one, 0));
}

/**
 * Values of a tree's nodes: without and with the nodes below.
 * @param {Tree} tree
 * @param {ArrayLike<number>} values of what is summed up
 * @returns {{exclusive: Float64Array, inclusive: Float64Array}}
 */
export function valuesOf(tree, values) {
  const exclusive = new Float64Array(tree.nodes.length);
  tree.nodes.forEach((node, index) => {
    for (const own of node.own) exclusive[index] += values[own];
  });
  const inclusive = exclusive.slice();
  for (let index = tree.nodes.length - 1; index >= 0; index--) {
    const { parent } = tree.nodes[index];
    if (parent !== null) inclusive[parent] += inclusive[index];
  }
  return { exclusive, inclusive };
}

/**
 * The places of a node: its own, and those of the nodes below if it is folded.
 * @param {Tree} tree
 * @param {number} index
 * @param {boolean} isOpen
 * @returns {number[]}
 */
export function placesOf(tree, index, isOpen) {
  const node = tree.nodes[index];
  if (isOpen && node.children.length > 0) return node.own;
  const places = [];
  const waiting = [index];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const own of tree.nodes[next].own) places.push(own);
    for (const child of tree.nodes[next].children) waiting.push(child);
  }
  return places;
}
