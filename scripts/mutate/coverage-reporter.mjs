/**
 * Root hooks of mocha in an instrumented copy. After each test file they record the blocks that ran, the duration, and
 * failures.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reset } from './recorder.mjs';

const HITS = fileURLToPath(new URL('./hits/', import.meta.url));
const RESULTS = fileURLToPath(new URL('./results.jsonl', import.meta.url));
mkdirSync(HITS, { recursive: true });
let current;

function taken() {
  reset();
  const blocks = new Set();
  for (const name of readdirSync(HITS)) {
    for (const line of readFileSync(HITS + name, 'utf8').split('\n')) if (line !== '') blocks.add(line);
    rmSync(HITS + name);
  }
  return [...blocks];
}

function finish() {
  if (current === undefined) return;
  const { file, since, failed } = current;
  const result = {
    file: relative(process.cwd(), file).replace(/\.js$/, '.ts'),
    ms: Date.now() - since,
    failed,
    blocks: taken(),
  };
  appendFileSync(RESULTS, `${JSON.stringify(result)}\n`);
}

/** Mocha's own reporter announces a file before its `before` hooks run. A root hook does not. */
export default class CoverageReporter {
  constructor(runner) {
    runner.on('suite', (suite) => {
      if (suite.root || suite.file === current?.file || suite.parent?.root !== true) return;
      if (current === undefined) taken();
      finish();
      current = { file: suite.file, since: Date.now(), failed: 0 };
    });
    runner.on('fail', (test, error) => {
      if (current !== undefined) current.failed++;
      process.stderr.write(`${test.fullTitle()}: ${error.message}\n`);
    });
    runner.on('end', finish);
  }
}
