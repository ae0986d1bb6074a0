// Tests of the functions that need no browser: node --test profile/page/test

import assert from "node:assert/strict";
import { test } from "node:test";
import { behaviour, clusters, distance, memberName, setsApart } from "../clusters.js";
import { columnsOf } from "../costs.js";
import { cellsOf, readCells } from "../data.js";
import { count, percentage, time } from "../format.js";
import { CLASSES, firstAbove, rowsOf, timesIn, timesOf } from "../spans.js";
import { spanRun } from "../shown.js";
import { listText, parseState, stateFragment } from "../state.js";
import { locationTree, placesOf, valuesOf } from "../sums.js";

test("times, percentages and numbers are written as in the text report", () => {
  const times = [0, 7, 999, 1_000, 999_499, 999_500, 45_678_000, 4_050_000_000, 123_456_000_000];
  assert.deepEqual(times.map(time), ["0 s", "7 ns", "999 ns", "1.00 us", "999 us", "1.00 ms", "45.7 ms", "4.05 s", "123 s"]);
  assert.deepEqual([0, 0.01, 0.1, 3.44, 38.2, 99.99, 100].map(percentage), ["0 %", "<0.1 %", "0.1 %", "3.4 %", "38 %", "99.9 %", "100 %"]);
  assert.deepEqual([7, 1000, 1234567].map(count), ["7", "1 000", "1 234 567"]);
  assert.equal(time(-45_678_000), "-45.7 ms");
});

test("cells are read as they were written, and a cut is told", () => {
  // Two paths: one entry of thread 0, two of threads 1 and 3; metrics 0 and 1.
  const bytes = Uint8Array.from([1, 2, 0, 1, 1, 1, 3, 2, 5, 0xac, 2, 7, 9]);
  const cells = readCells(bytes, 2, 2);
  assert.deepEqual([...cells.path], [0, 1, 1]);
  assert.deepEqual([...cells.thread], [0, 1, 3]);
  assert.deepEqual(cells.metrics.map(({ value }) => [...value]), [[5, 300], [7, 9]]);
  assert.deepEqual(cells.metrics.map(({ starts }) => [...starts]), [[0, 1, 2], [0, 0, 2]]);
  assert.throws(() => readCells(bytes.subarray(0, 12), 2, 2), /cut short/);
});

test("a folded node stands for all below, an open one for its own", () => {
  const model = { host: "h", threads: { name: ["0", "0->0", "0->1", "0->1->0"], rank: [null, null, null, null] } };
  const tree = locationTree(model, false);
  const { exclusive, inclusive } = valuesOf(tree, [1, 10, 100, 1000, 10000]);
  assert.equal(inclusive[0], 11111);
  const thread = tree.nodes.findIndex(({ id }) => id === "t0->1");
  assert.deepEqual([exclusive[thread], inclusive[thread]], [1000, 11000]);
  assert.deepEqual(placesOf(tree, thread, true), [3]);
  assert.deepEqual(placesOf(tree, thread, false), [3, 4]);
});

test("threads that spend their time alike are together, and what sets others apart is named", () => {
  const vectors = [[0.9, 0.1, 0], [0.88, 0.12, 0], [0.1, 0.1, 0.8], [0.9, 0.08, 0.02]];
  assert.deepEqual(clusters(vectors), [[0, 1, 3], [2]]);
  const apart = setsApart(vectors, [2]);
  assert.ok(apart);
  assert.ok(apart.at === 2 || apart.at === 0);
  assert.equal(setsApart(vectors, [0, 1, 2, 3]), null);
  assert.equal(distance([1, 0], [0, 1]), 1);
  assert.deepEqual(clusters([[1, 0]]), [[0]]);
});

test("a thread that forks a team is its first member, and idle where another is busy", () => {
  const names = ["0", "0->0", "0->0->0", "r1:0->1->0->0", "0->1->0->2", "0->10->0"];
  assert.deepEqual(names.map(memberName), ["0->0", "0->0", "0->0", "r1:0->1", "0->1->0->2", "0->10"]);
  const found = behaviour(["0->0", "0->0->0", "0->0->1"], [[1, 0], [0, 3], [0, 3]]);
  assert.deepEqual(found, { names: ["0->0", "0->0->1"], vectors: [[0.25, 0.75, 0], [0, 0.75, 0.25]] });
});

test("a link holds any name", () => {
  const values = { v: "explorer", c: "p1", x: listText(["group-a b", "t0->1~2", "50 %"]) };
  assert.deepEqual(parseState(stateFragment(values)), values);
  assert.deepEqual(values.x.split("~").map(decodeURIComponent), ["group-a b", "t0->1~2", "50 %"]);
});

test("times in a span are those of the slices in it", () => {
  const size = CLASSES.length;
  const lane = { from: Float64Array.from([0, 10, 40]), to: Float64Array.from([10, 30, 50]), what: Uint32Array.from([1, 2, 3 * size + 1]), bins: [], region: new Uint32Array(0), chunks: [], name: "0" };
  assert.deepEqual(timesIn(lane, { has_slices: true }, 5, 45), [10, 10, 20, 0, 0]);
  const bins = [[4, 10], [6, 0], [0, 0], [0, 0]].map((column) => Float64Array.from(column));
  const coarse = { ...lane, bins };
  assert.deepEqual(timesIn(coarse, { has_slices: false, bin_ns: 10, bins: 2 }, 5, 20), [0, 12, 3, 0, 0]);
  const named = { ...coarse, region: Uint32Array.from([7, 7]) };
  assert.deepEqual(timesOf(named, { has_slices: false, bin_ns: 10, bins: 2 }, 5, 20), [{ region: 6, kind: 1, time: 12 }, { region: 6, kind: 2, time: 3 }]);
  assert.deepEqual([firstAbove([1, 3, 5], 3), firstAbove([1, 3, 5], 9), firstAbove([], 0)], [2, 3, 0]);
});

test("a folded rank or team is one row with the lanes of all its threads", () => {
  const names = ["r0:0", "r0:0->0", "r0:0->0->0", "r0:0->1", "r1:0", "r1:0->0"];
  const told = (...folded) => rowsOf(names, new Set(folded)).map(({ label, lanes }) => [label, ...lanes]);
  assert.deepEqual(told(), [
    ["rank 0", 0, 1, 2, 3], ["r0:0", 0], ["team of r0:0", 1, 2, 3], ["r0:0->0", 1], ["team of r0:0->0", 2], ["r0:0->0->0", 2], ["r0:0->1", 3],
    ["rank 1", 4, 5], ["r1:0", 4], ["team of r1:0", 5], ["r1:0->0", 5],
  ]);
  assert.deepEqual(told("r0", "r1:0"), [["rank 0", 0, 1, 2, 3], ["rank 1", 4, 5], ["r1:0", 4], ["team of r1:0", 5]]);
  assert.deepEqual(told("r0:0", "r1"), [["rank 0", 0, 1, 2, 3], ["r0:0", 0], ["team of r0:0", 1, 2, 3], ["rank 1", 4, 5]]);
  assert.deepEqual(rowsOf(["0", "0->0"], new Set()).map(({ label }) => label), ["0", "team of 0", "0->0"]);
});

test("neighbouring iterations share a column, each with its weight", () => {
  const loop = { region: ["", 0], iterations: 5, instances: 1, chunks: 5, largest_chunk: 1, per_cell: 1, executed: [1, 3, 0, 0, 2], ns: [10, 30, 0, 0, 7] };
  assert.deepEqual(columnsOf(loop, 5).map(({ ns }) => ns), [10, 30, 0, 0, 7]);
  assert.deepEqual(columnsOf(loop, 3), [
    { first: 0, last: 1, executed: 4, ns: 25 },
    { first: 2, last: 3, executed: 0, ns: 0 },
    { first: 4, last: 4, executed: 2, ns: 7 },
  ]);
});

test("cells of values in any order are told by path, thread and metric", () => {
  const value = (path, thread, metric, value) => ({ path, thread, metric, value });
  const cells = cellsOf([value(2, 1, 0, 5), value(0, 0, 1, 3), value(2, 1, 0, 2), value(2, 4, 1, 9)], 3, 2);
  assert.deepEqual([...cells.path], [0, 2, 2]);
  assert.deepEqual([...cells.thread], [0, 1, 4]);
  assert.deepEqual(cells.metrics.map(({ entry, value, starts }) => [[...entry], [...value], [...starts]]), [[[1], [7], [0, 0, 0, 1]], [[0, 2], [3, 9], [0, 1, 1, 2]]]);
});

test("a span of a trace has each thread's time once, by what it was", () => {
  const ids = ["work", "serial", "barrier", "start", "idle"];
  const model = {
    metrics: ids.map((id) => ({ id, name: id, group: id, unit: "ns" })), sections: [], threads_at_once: 2,
    threads: { name: ["0", "0->0", "0->1"] }, paths: { region: [0, 1, 1], caller: [null, 0, 0] },
  };
  const regions = [["parallel", 0, "barrier", "start"], ["barrier", 1, "barrier", "start"]];
  const lane = (name, slices) => ({
    name, bins: [], region: new Uint32Array(0), chunks: [],
    from: Float64Array.from(slices, ([from]) => from), to: Float64Array.from(slices, ([, to]) => to),
    what: Uint32Array.from(slices, ([, , region, kind]) => CLASSES.length * (region + 1) + kind),
  });
  // From 100 to 200 there is a team; thread 0->1 waits in a barrier of its own from 150 on.
  const lanes = [lane("0", [[190, 200, 0, 3]]), lane("0->0", [[100, 190, 0, 1]]), lane("0->1", [[110, 150, 0, 1], [150, 190, 1, 2]])];
  const sums = (run) => Object.fromEntries(run.cells.metrics.map(({ value }, at) => [ids[at], [...value].reduce((all, one) => all + one, 0)]));
  const whole = spanRun(model, { regions, has_slices: true, lanes: ["0", "0->0", "0->1"] }, lanes, lanes, 0, 300);
  assert.deepEqual(sums(whole), { work: 130, serial: 200, barrier: 40, start: 10, idle: 220 });
  const one = spanRun(model, { regions, has_slices: true, lanes: [] }, lanes, [lanes[2]], 140, 160);
  assert.deepEqual(sums(one), { work: 10, serial: 0, barrier: 10, start: 0, idle: 0 });
  // The barrier has two call paths: a third stands for both.
  assert.deepEqual([one.model.paths.region, [...one.cells.path]], [[0, 1, 1, 1], [1, 4]]);
});
