/** Attributes the time of event loop turns to functions, with V8's sampling profiler. */
import { Session } from 'node:inspector/promises';

const INTERVAL = 500;

/** Lines shown per turn. */
const SHOWN = 14;

/** Starts sampling. The returned function ends it and reports where the given turns spent their time. */
export async function startProfile() {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    return (/** @type {import('./meter.mjs').Turn[]} */ turns) => turns.flatMap((turn) => linesOf(profile, turn));
  };
}

/**
 * @param {import('node:inspector').Profiler.Profile} profile
 * @param {import('./meter.mjs').Turn} turn
 */
function linesOf(profile, turn) {
  const stackOf = createStacks(profile);
  /** @type {Record<'self' | 'total', Map<string, number>>} */
  const spent = { self: new Map(), total: new Map() };
  for (const { node, took } of samplesIn(profile, turn)) {
    const stack = stackOf(node);
    for (const name of new Set(stack)) add(spent.total, name, took);
    add(spent.self, stack[0] ?? '?', took);
  }
  const head = `  turn of ${turn.wall.toFixed(1)} ms, ${turn.cpu.toFixed(1)} ms processor`;
  return [head, `    in: ${top(spent.total)}`, `    itself: ${top(spent.self)}`];
}

/** Sampled functions of a turn, with their milliseconds. */
function* samplesIn({ startTime, samples = [], timeDeltas = [] }, { began, ended }) {
  let time = startTime;
  for (const [index, node] of samples.entries()) {
    time += timeDeltas[index] ?? 0;
    if (time / 1e3 >= began && time / 1e3 <= ended) yield { node, took: (timeDeltas[index + 1] ?? 0) / 1e3 };
  }
}

/** The call stack of a sample, innermost first. */
function createStacks({ nodes }) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  return (node) => {
    const stack = [];
    for (let id = node; id !== undefined; id = parents.get(id)) stack.push(names.get(id) ?? '?');
    return stack;
  };
}

function add(times, name, took) {
  times.set(name, (times.get(name) ?? 0) + took);
}

function top(times) {
  const longest = [...times].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
  return longest.map(([name, took]) => `${took.toFixed(1)} ${name}`).join('; ');
}

function nameOf({ functionName, url, lineNumber }) {
  const place = url.split('/').slice(-2).join('/');
  return place === '' ? functionName : `${functionName || 'anonymous'} (${place}:${lineNumber + 1})`;
}
