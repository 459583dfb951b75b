/** Loaded in an instrumented copy. Records which blocks ran, one line each, once per process and test file. */
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';

const FILE = fileURLToPath(new URL(`./hits/${process.pid}-${threadId}`, import.meta.url));
/** Shared by the thread, because the TypeScript loader creates a second instance of this module. */
const recorded = (globalThis.$recorded ??= { seen: new Set(), waiting: '' });

/** @param {string} block file and number */
export function hit(block) {
  if (recorded.seen.has(block)) return;
  recorded.seen.add(block);
  if (recorded.waiting === '') setImmediate(flush).unref();
  recorded.waiting += `${block}\n`;
}

/** Resets the recorder for the next test file. */
export function reset() {
  flush();
  recorded.seen = new Set();
}

function flush() {
  if (recorded.waiting !== '') appendFileSync(FILE, recorded.waiting);
  recorded.waiting = '';
}

process.on('exit', flush);
