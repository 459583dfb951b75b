/**
 * Loaded before the service (`node --import`): measures each turn of its event loop, which is what a request that comes
 * meanwhile waits for. The parent asks with messages: `begin`, and `end`, which is answered with a `Measured`.
 */
import { openSync, readSync } from 'node:fs';
import { constants, performance, PerformanceObserver } from 'node:perf_hooks';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startProfile } from './profile.mjs';

/**
 * @typedef {object} Turn all in milliseconds
 * @property {number} began monotonic clock
 * @property {number} ended
 * @property {number} wall by the clock, without waiting for something to do
 * @property {number} cpu processor time of the thread that runs it; what else the machine does is not in it
 *
 * @typedef {object} Measured
 * @property {Turn} byClock the turn that took longest
 * @property {Turn} byProcessor the one with the most processor time
 * @property {{ kind: string, wall: number }} collection the longest pause for the collection of garbage
 * @property {string[]} profile where the time of the longest turns went, if BENCH_PROFILE asks for it
 */

/** @type {Turn} */
const NONE = { began: 0, ended: 0, wall: 0, cpu: 0 };
/** Milliseconds: shorter turns are not worth a profile. */
const LONG = 10;

const KINDS = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'young'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'whole heap'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'step'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'callbacks'],
]);

const processorTime = createProcessorTime();
const isProfiled = process.env['BENCH_PROFILE'] !== undefined;

/** @type {Turn[]} */
let turns = [];
let collection = { kind: '', wall: 0 };
/** @type {(() => Promise<(longest: Turn[]) => string[]>) | undefined} */
let stopProfile;
let last = now();

function now() {
  return {
    time: Number(process.hrtime.bigint()) / 1e6,
    active: performance.eventLoopUtilization().active,
    cpu: processorTime(),
  };
}

/** Of this thread; where the system doesn't tell of threads, of the process. */
function createProcessorTime() {
  const buffer = Buffer.alloc(200);
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    return () => Number(buffer.latin1Slice(0, readSync(file, buffer, 0, 200, 0)).split(' ')[0]) / 1e6;
  } catch {
    return () => process.cpuUsage().user / 1e3 + process.cpuUsage().system / 1e3;
  }
}

/** Runs once a turn, and keeps no turn from waiting. */
function atTurn() {
  const present = now();
  turns.push({
    began: last.time,
    ended: present.time,
    wall: present.active - last.active,
    cpu: present.cpu - last.cpu,
  });
  if (turns.length > 1_000) turns = longest();
  last = present;
  setImmediate(atTurn).unref();
}

function longest() {
  const by = (/** @type {'wall' | 'cpu'} */ which) => turns.toSorted((a, b) => b[which] - a[which]).slice(0, 20);
  return [...new Set([...by('wall'), ...by('cpu')])];
}

new PerformanceObserver((list) => {
  for (const { duration, detail } of list.getEntries()) {
    const kind = KINDS.get(/** @type {{ kind: number }} */ (detail).kind) ?? 'other';
    if (duration > collection.wall) collection = { kind, wall: duration };
  }
}).observe({ entryTypes: ['gc'] });

async function begin() {
  if (isProfiled) stopProfile = await startProfile();
  // What was done until now belongs to the turn that is under way.
  await nextTurn();
  await nextTurn();
  turns = [];
  collection = { kind: '', wall: 0 };
  process.send?.({ begun: true });
}

async function end() {
  const found = longest();
  const max = (/** @type {'wall' | 'cpu'} */ which) => found.reduce((a, b) => (b[which] > a[which] ? b : a), NONE);
  const measured = { byClock: max('wall'), byProcessor: max('cpu'), collection };
  const describe = await stopProfile?.();
  const long = found.filter(({ cpu }) => cpu > LONG).toSorted((a, b) => b.cpu - a.cpu);
  process.send?.({ ...measured, profile: describe?.(long.slice(0, 3)) ?? [] });
}

process.on('message', (message) => void (message === 'begin' ? begin() : end()));
process.on('disconnect', () => process.exit());
// Listening for the parent alone doesn't keep the service running.
process.channel?.unref();
setImmediate(atTurn).unref();
