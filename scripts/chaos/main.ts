/**
 * `npm run chaos -- --minutes 20 --seed 1`: runs writers on several processes while these are killed, stopped and
 * disconnected from their database. Exit code 1 if a guarantee is violated. `npm run chaos -- --terminate 50 --minutes
 * 2` instead terminates all backends of the service every 50 ms. Meanwhile the clients also read, follow the stream,
 * and have changes scheduled and prepared.
 */
import { parseArgs } from 'node:util';
import { stopTestServer } from '../../test/support/postgres.js';
import { chaos, chaosText } from './run.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    writers: { type: 'string', default: '16' },
    processes: { type: 'string', default: '3' },
    terminate: { type: 'string' },
  },
});
const options = {
  seed: Number(values.seed),
  seconds: Number(values.minutes) * 60,
  writers: Number(values.writers),
  processes: Number(values.processes),
  ...(values.terminate !== undefined && { terminate: Number(values.terminate) }),
  program: 'built' as const,
  trace: (line: string) => void process.stderr.write(`${line}\n`),
};

process.stderr.write(`seed ${options.seed}\n`);
try {
  const report = await chaos(options);
  process.stdout.write(`${chaosText(options, report)}\n`);
  if (report.findings.length > 0) process.exitCode = 1;
} finally {
  await stopTestServer();
}
