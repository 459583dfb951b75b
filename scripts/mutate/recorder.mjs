/** In a copy of the sources whose blocks call it: writes down which ran, a line each, once a process and test file. */
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';

const FILE = fileURLToPath(new URL(`./hits/${process.pid}-${threadId}`, import.meta.url));
/** One of the thread: the loader of TypeScript makes another module of this one than the reporter imports. */
const recorded = (globalThis.$recorded ??= { seen: new Set(), waiting: '' });

/** @param {string} block its file and number */
export function hit(block) {
  if (recorded.seen.has(block)) return;
  recorded.seen.add(block);
  if (recorded.waiting === '') setImmediate(flush).unref();
  recorded.waiting += `${block}\n`;
}

/** Starts over, for the next test file. */
export function reset() {
  flush();
  recorded.seen = new Set();
}

function flush() {
  if (recorded.waiting !== '') appendFileSync(FILE, recorded.waiting);
  recorded.waiting = '';
}

process.on('exit', flush);
