/**
 * `npm run bench -- loop`: measures the longest turns of the event loop for every route with large requests or
 * responses. BENCH_LOOP: the groups to measure, separated by commas (documents, applies, lists, renames, adoptions,
 * tables, many, trash; all). BENCH_WORK: only work whose name contains this text, or one of several separated by `|`.
 * BENCH_PROFILE=1: prints where the longest turns spent their time, which makes them longer. BENCH_VERBOSE=1: prints
 * the responses. BENCH_FIRST=1: gives the service priority over other processes (Linux, root). BENCH_DATABASE_URL: uses
 * your own server.
 */
import { readRelease } from '../../../src/release.js';
import { printStops } from './stops.js';
import { longestStops } from './works.js';
import { startServer } from '../servers.js';

const release = readRelease();
const server = await startServer();
const groups = process.env['BENCH_LOOP']?.split(',');
try {
  const rows = await longestStops(server, release, groups);
  printStops(`PostgreSQL ${server.version}, Node.js ${process.version}, release ${release}`, rows);
} finally {
  await server.stop();
}
