/**
 * `npm run fuzz -- --requests 100000 --seed 1`: sends random requests to its own service and checks its guarantees.
 * Exit code 1 if it finds a violation.
 */
import { parseArgs } from 'node:util';
import { stopTestServer } from '../../test/support/postgres.js';
import { findingText, reportText } from './report.js';
import { fuzz } from './run.js';
import { startTarget } from './target.js';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    every: { type: 'string', default: '500' },
  },
});
const [requests, seed, every] = [values.requests, values.seed, values.every].map(Number) as [number, number, number];
if (![requests, seed, every].every(Number.isSafeInteger)) throw new Error('--requests, --seed and --every are numbers');

process.stderr.write(`seed ${seed}\n`);
try {
  const report = await fuzz({
    requests,
    seed,
    every,
    start: startTarget,
    found: (finding) => void process.stderr.write(`${findingText({ ...finding, curl: finding.curl.slice(-5) })}\n`),
    progress: (sent) => {
      if (sent % 1_000 === 0) process.stderr.write(`${sent} requests\n`);
    },
  });
  process.stdout.write(`${reportText(seed, report)}\n`);
  if (report.findings.length > 0) process.exitCode = 1;
} finally {
  await stopTestServer();
}
