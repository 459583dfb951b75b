/** In a copy of the sources whose blocks call it: writes down which ran, a line each, once a process and test file. */
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';

const FILE = fileURLToPath(new URL(`./hits/${process.pid}-${threadId}`, import.meta.url));
let seen = new Set();
let waiting = '';

/** @param {string} block its file and number */
export function hit(block) {
  if (seen.has(block)) return;
  seen.add(block);
  if (waiting === '') setImmediate(flush).unref();
  waiting += `${block}\n`;
}

/** Begins anew, for the next test file. */
export function reset() {
  flush();
  seen = new Set();
}

function flush() {
  if (waiting !== '') appendFileSync(FILE, waiting);
  waiting = '';
}

process.on('exit', flush);
