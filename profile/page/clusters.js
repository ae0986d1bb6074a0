// Clusters of threads that behave alike. This module does not draw.

/** Threads whose distance is larger are in different clusters. */
const FAR = 0.1;
const MOST_CLUSTERS = 12;
const ROUNDS = 4;

/**
 * Half the sum of the differences: the part of its time that one thread would have to spend
 * elsewhere to equal the other.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 * @returns {number}
 */
export function distance(a, b) {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += Math.abs(a[at] - b[at]);
  return sum / 2;
}

/**
 * @param {ArrayLike<number>[]} vectors
 * @param {number[]} members
 * @returns {Float64Array}
 */
function centre(vectors, members) {
  const sum = new Float64Array(vectors[0].length);
  for (const member of members) for (let at = 0; at < sum.length; at++) sum[at] += vectors[member][at] / members.length;
  return sum;
}

/**
 * Clusters vectors whose elements add up to 1. A vector that is far from all centres starts a
 * new cluster. Then, in a few rounds, all vectors move to the nearest centre.
 * @param {ArrayLike<number>[]} vectors
 * @returns {number[][]} members of each cluster, the largest first
 */
export function clusters(vectors) {
  /** @type {ArrayLike<number>[]} */
  let centres = [];
  for (const vector of vectors) {
    const isNear = centres.some((one) => distance(one, vector) <= FAR);
    if (!isNear && centres.length < MOST_CLUSTERS) centres.push(vector);
  }
  /** @type {number[][]} */
  let members = [];
  for (let round = 0; round < ROUNDS; round++) {
    members = centres.map(() => []);
    vectors.forEach((vector, index) => {
      const distances = centres.map((one) => distance(one, vector));
      members[distances.indexOf(Math.min(...distances))].push(index);
    });
    members = members.filter((one) => one.length > 0);
    centres = members.map((one) => centre(vectors, one));
  }
  return members.sort((a, b) => b.length - a.length || a[0] - b[0]);
}

/**
 * The place where a cluster differs most from all other vectors, and the parts of their time
 * that its members and the others spend there.
 * @param {ArrayLike<number>[]} vectors
 * @param {number[]} members
 * @returns {{at: number, here: number, elsewhere: number} | null} null if there are no others
 */
export function setsApart(vectors, members) {
  const inside = new Set(members);
  const others = vectors.map((_, index) => index).filter((index) => !inside.has(index));
  if (members.length === 0 || others.length === 0) return null;
  const here = centre(vectors, members);
  const elsewhere = centre(vectors, others);
  let at = 0;
  for (let one = 1; one < here.length; one++) {
    if (Math.abs(here[one] - elsewhere[one]) > Math.abs(here[at] - elsewhere[at])) at = one;
  }
  return { at, here: here[at], elsewhere: elsewhere[at] };
}

/**
 * The name under which a thread's time is added up. A thread that forks a team is also the team's
 * first member: `0->1->0` is `0->1`. The thread that forks the outermost team is its first member.
 * @param {string} name
 * @returns {string}
 */
export function memberName(name) {
  if (!name.includes("->")) return `${name}->0`;
  return name.replace(/^([^>]*->\d+(?:->\d+)*?)(?:->0)+$/, "$1");
}

/**
 * How threads spend their time: the parts of it in the work of each region, in what is no work
 * there, and at last in no region, while the thread that is in regions longest is in one.
 * @param {string[]} names of the threads
 * @param {ArrayLike<number>[]} times of each thread, by region, first of work and then of no work
 * @returns {{names: string[], vectors: number[][]}}
 */
export function behaviour(names, times) {
  /** @type {Map<string, number[]>} */
  const sums = new Map();
  times.forEach((own, index) => {
    const name = memberName(names[index]);
    const sum = sums.get(name) ?? new Array(own.length).fill(0);
    sums.set(name, sum);
    for (let at = 0; at < own.length; at++) sum[at] += own[at];
  });
  const wholes = [...sums.values()].map((sum) => sum.reduce((all, value) => all + value, 0));
  const longest = Math.max(...wholes, 1);
  const vectors = [...sums.values()].map((sum, index) => [...sum, longest - wholes[index]].map((value) => value / longest));
  return { names: [...sums.keys()], vectors };
}
