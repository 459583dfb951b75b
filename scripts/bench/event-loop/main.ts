/**
 * `npm run bench -- loop`: the longest turns of the event loop, for every route that takes or answers much.
 *
 * BENCH_LOOP: the groups to measure (documents, applies, lists, renames, adoptions, tables, many, trash; all), with commas;
 * BENCH_WORK: only works whose name holds this, or one of these (`|` between them);
 * BENCH_PROFILE=1: where the time of the longest turns went (which makes them longer); BENCH_VERBOSE=1: what was answered;
 * BENCH_FIRST=1: the service before whatever else the machine does (Linux, root); BENCH_DATABASE_URL: a server of yours.
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
