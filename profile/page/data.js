// The page's data sections, which are decompressed when they are needed.

/**
 * @typedef {object} Metric
 * @property {string} id
 * @property {string} group
 * @property {string} name
 * @property {string} help
 * @property {string} unit
 */

/**
 * The cells that are not zero. Path 0 is the program. Thread 0 stands for threads that are not
 * told apart. Paths and threads of the model follow, with numbers from 1.
 * @typedef {object} Cells
 * @property {Uint32Array} path of each entry
 * @property {Uint32Array} thread of each entry
 * @property {{entry: Uint32Array, value: Float64Array, starts: Uint32Array}[]} metrics
 *   `starts` says where the values of each path begin
 */

/** Reads numbers with seven bits per byte, lowest first. */
export class Numbers {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** @returns {number} */
  next() {
    let number = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error("the data of the page was cut short");
      number += (byte & 0x7f) * scale;
      if (byte < 0x80) return number;
      scale *= 128;
    }
  }
}

/**
 * @param {string} letters
 * @returns {Promise<Uint8Array>}
 */
export async function inflate(letters) {
  const text = atob(letters);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @type {Map<string, Promise<Uint8Array>>} */
const inflated = new Map();

/**
 * A section of the page. Each section is decompressed only once.
 * @param {string} name
 * @returns {Promise<Uint8Array>}
 */
export function section(name) {
  let bytes = inflated.get(name);
  if (!bytes) {
    const element = document.getElementById(`data-${name}`);
    bytes = inflate(element ? element.textContent ?? "" : "");
    inflated.set(name, bytes);
    if (element) element.remove();
  }
  return bytes;
}

/**
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function sectionText(name) {
  return new TextDecoder().decode(await section(name));
}

/**
 * @param {Uint8Array} bytes
 * @param {number} paths with the program
 * @param {number} metrics
 * @returns {Cells}
 */
export function readCells(bytes, paths, metrics) {
  const numbers = new Numbers(bytes);
  const sizes = Array.from({ length: paths }, () => numbers.next());
  const entries = sizes.reduce((sum, size) => sum + size, 0);
  const path = new Uint32Array(entries);
  const thread = new Uint32Array(entries);
  let entry = 0;
  sizes.forEach((size, index) => {
    let next = 0;
    for (let number = 0; number < size; number++, entry++) {
      path[entry] = index;
      thread[entry] = next + numbers.next();
      next = thread[entry] + 1;
    }
  });
  const masks = Array.from({ length: entries }, () => numbers.next());
  const columns = [];
  for (let metric = 0; metric < metrics; metric++) {
    const bit = 2 ** metric;
    const has = masks.map((mask) => Math.floor(mask / bit) % 2 === 1);
    const size = has.reduce((sum, is) => sum + (is ? 1 : 0), 0);
    const column = { entry: new Uint32Array(size), value: new Float64Array(size), starts: new Uint32Array(paths + 1) };
    let at = 0;
    has.forEach((is, index) => {
      if (!is) return;
      column.entry[at] = index;
      column.value[at++] = numbers.next();
      column.starts[path[index] + 1] = at;
    });
    for (let one = 1; one <= paths; one++) column.starts[one] = Math.max(column.starts[one], column.starts[one - 1]);
    columns.push(column);
  }
  return { path, thread, metrics: columns };
}

/** @typedef {{metric: number, path: number, thread: number, value: number}} CellValue */

/**
 * Cells from values in any order. Values of the same place are added up.
 * @param {CellValue[]} values
 * @param {number} paths with the program
 * @param {number} metrics
 * @returns {Cells}
 */
export function cellsOf(values, paths, metrics) {
  values.sort((a, b) => a.path - b.path || a.thread - b.thread);
  /** @type {{path: number, thread: number, values: Map<number, number>}[]} */
  const entries = [];
  for (const { metric, path, thread, value } of values) {
    let entry = entries[entries.length - 1];
    if (entry?.path !== path || entry.thread !== thread) {
      entry = { path, thread, values: new Map() };
      entries.push(entry);
    }
    entry.values.set(metric, (entry.values.get(metric) ?? 0) + value);
  }
  const columns = Array.from({ length: metrics }, (_, metric) => {
    const here = entries.flatMap((entry, index) => (entry.values.has(metric) ? [index] : []));
    const starts = new Uint32Array(paths + 1);
    for (const index of here) starts[entries[index].path + 1]++;
    for (let path = 0; path < paths; path++) starts[path + 1] += starts[path];
    return { entry: Uint32Array.from(here), value: Float64Array.from(here, (index) => entries[index].values.get(metric) ?? 0), starts };
  });
  return { path: Uint32Array.from(entries, (one) => one.path), thread: Uint32Array.from(entries, (one) => one.thread), metrics: columns };
}

/**
 * Calls `tell` for all values of a path.
 * @param {Cells} cells
 * @param {number} path
 * @param {(metric: number, thread: number, value: number) => void} tell
 */
export function eachOf(cells, path, tell) {
  cells.metrics.forEach(({ entry, value, starts }, metric) => {
    for (let at = starts[path]; at < starts[path + 1]; at++) tell(metric, cells.thread[entry[at]], value[at]);
  });
}
