/**
 * Loaded before the service (`node --import`). Measures each turn of its event loop, during which other requests wait.
 * The parent sends `begin`, then `end`, and receives a `Measured` for `end`.
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
 * @property {number} wall elapsed time without idle time
 * @property {number} cpu processor time of the thread, without other processes
 * @typedef {object} Measured
 * @property {Turn} byClock the turn with the longest elapsed time
 * @property {Turn} byProcessor the turn with the most processor time
 * @property {{ kind: string, wall: number }} collection the longest pause for garbage collection
 * @property {string[]} profile where the longest turns spent their time, if BENCH_PROFILE is set
 */

/** @type {Turn} */
const NONE = { began: 0, ended: 0, wall: 0, cpu: 0 };
/** Shorter turns are not profiled (milliseconds). */
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

/** Processor time of this thread, or of the process if the system has no figures per thread. */
function createProcessorTime() {
  const buffer = Buffer.alloc(200);
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    return () => Number(buffer.latin1Slice(0, readSync(file, buffer, 0, 200, 0)).split(' ')[0]) / 1e6;
  } catch {
    return () => process.cpuUsage().user / 1e3 + process.cpuUsage().system / 1e3;
  }
}

/** Runs once per turn and delays none. */
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
  // Work until now belongs to the current turn.
  await nextTurn();
  await nextTurn();
  turns = [];
  collection = { kind: '', wall: 0 };
  process.send?.({ begun: true });
}

async function end() {
  const longestMs = longest();
  const max = (/** @type {'wall' | 'cpu'} */ which) => longestMs.reduce((a, b) => (b[which] > a[which] ? b : a), NONE);
  const measured = { byClock: max('wall'), byProcessor: max('cpu'), collection };
  const describe = await stopProfile?.();
  const long = longestMs.filter(({ cpu }) => cpu > LONG).toSorted((a, b) => b.cpu - a.cpu);
  process.send?.({ ...measured, profile: describe?.(long.slice(0, 3)) ?? [] });
}

process.on('message', (message) => void (message === 'begin' ? begin() : end()));
process.on('disconnect', () => process.exit());
// The message listener alone must not keep the service running.
process.channel?.unref();
setImmediate(atTurn).unref();
