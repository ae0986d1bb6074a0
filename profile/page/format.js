// The presentation of numbers. The title of an element contains the exact value.

import { h } from "./dom.js";

/**
 * Nanoseconds with a suitable unit and three digits.
 * @param {number} ns
 * @returns {string}
 */
export function time(ns) {
  if (ns === 0) return "0 s";
  if (ns < 0) return `-${time(-ns)}`;
  if (ns < 1000) return `${ns} ns`;
  const [scale, unit] = ns < 999_500 ? [1e3, "us"] : ns < 999_500_000 ? [1e6, "ms"] : [1e9, "s"];
  const value = ns / scale;
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
}

/**
 * A percentage with useful precision.
 * @param {number} percent
 * @returns {string}
 */
export function percentage(percent) {
  if (!Number.isFinite(percent)) return "-";
  if (percent === 0) return "0 %";
  if (percent < 0) return `-${percentage(-percent)}`;
  if (percent < 0.1) return "<0.1 %";
  if (percent < 9.95) return `${percent.toFixed(1)} %`;
  if (percent >= 99.5 && percent < 100) return `${Math.min(percent, 99.9).toFixed(1)} %`;
  return `${percent.toFixed(0)} %`;
}

/**
 * A count, in groups of three digits.
 * @param {number} number
 * @returns {string}
 */
export function count(number) {
  return number.toFixed(0).replace(/\B(?=(\d{3})+$)/g, " ");
}

/**
 * A count with its noun.
 * @param {number} number
 * @param {string} noun
 * @returns {string}
 */
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/**
 * A value in its unit.
 * @param {number} value
 * @param {string} unit
 * @returns {string}
 */
export function amount(value, unit) {
  return unit === "ns" ? time(value) : count(value);
}

/**
 * Words of an analysis as a sentence. Lines may not be broken in an arrow.
 * @param {string} words
 * @returns {string}
 */
export function sentence(words) {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`.replaceAll(" -> ", " → ");
}

/**
 * A value as an element that also contains the exact value.
 * @param {number} value
 * @param {string} [unit]
 * @returns {HTMLElement}
 */
export function exact(value, unit = "ns") {
  const title = unit === "ns" ? `${value} ns` : `${value}`;
  return h("span", { class: "num", "data-value": value, title }, amount(value, unit));
}

/**
 * From blue over grey to yellow: readers who do not see some colours can still tell these
 * apart (cividis).
 */
const SCALE = [
  [0, 34, 78],
  [53, 69, 108],
  [102, 105, 112],
  [148, 142, 119],
  [200, 184, 102],
  [254, 232, 56],
];

/**
 * The colour of a part of a whole, from 0 to 1.
 * @param {number} part
 * @returns {string}
 */
export function colour(part) {
  const at = Math.min(Math.max(part, 0), 1) * (SCALE.length - 1);
  const below = SCALE[Math.floor(at)];
  const above = SCALE[Math.ceil(at)];
  const mixed = below.map((value, index) => Math.round(value + (above[index] - value) * (at % 1)));
  return `rgb(${mixed.join(",")})`;
}
