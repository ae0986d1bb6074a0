// Prints the clusters of threads that a page of `romp report -f html` shows: a line for each,
// with what sets it apart and its threads. node clusters.mjs PAGE
import { readFileSync } from "node:fs";
import { inflate, readCells } from "../../profile/page/data.js";
import { ownByRegion } from "../../profile/page/places.js";
import { alike, matrixOf } from "../../profile/page/threads.js";

const page = readFileSync(process.argv[2], "utf8");
const section = (name) => inflate(page.split(`id="data-${name}">`)[1].split("<")[0]);
const model = JSON.parse(new TextDecoder().decode(await section("model")));
const cells = readCells(await section("cells"), model.paths.region.length + 1, model.metrics.length);
const { time } = ownByRegion(model, cells);
const regions = [...new Set(model.paths.region)].sort((a, b) => time[b] - time[a]);
for (const { what, members } of alike(model, matrixOf(model, cells, regions), regions).rows)
  console.log(`${what}\t${members.join(", ")}`);
