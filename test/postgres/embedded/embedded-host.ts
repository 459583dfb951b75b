/** A process with an embedded server, for tests that kill it: `embedded-host.ts DATA_DIR`. */
import { startEmbedded } from '../../../src/postgres/embedded/index.js';
import { OperatorError } from '../../../src/kernel/problem.js';

const [dataDir = ''] = process.argv.slice(2);

try {
  const { connectionString, orphanStopped } = await startEmbedded({ dataDir, connections: 20, throwaway: true });
  console.log(JSON.stringify({ connectionString, orphanStopped }));
  // Runs until it is killed.
  setInterval(() => undefined, 60_000);
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  console.log(JSON.stringify({ refused: error.message }));
  process.exitCode = 2;
}
