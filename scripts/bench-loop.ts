/**
 * `npm run bench:loop`: the longest stop of the event loop, for every route that takes or answers much.
 *
 * BENCH_LOOP: the groups to measure (documents, applies, lists, adoptions, tables, many; all), with commas;
 * BENCH_DATABASE_URL: a server of yours.
 */
import { readRelease } from '../src/release.js';
import { longestStops } from './bench/event-loop-works.js';
import { printTable } from './bench/report.js';
import { startServer } from './bench/servers.js';

const release = readRelease();
const server = await startServer();
const groups = process.env['BENCH_LOOP']?.split(',');
try {
  const rows = await longestStops(server, release, groups);
  printTable(`PostgreSQL ${server.version}, Node.js ${process.version}, release ${release}`, rows);
} finally {
  await server.stop();
}
