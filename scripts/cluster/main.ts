/** `npm run cluster -- start | stop | status` manages a cluster on loopback; `npm run cluster -- test` tests one. */
import { ensureBuilt } from '../../test/support/built.js';

ensureBuilt();
if (process.argv[2] === 'test') {
  // The test reads the options that follow its name.
  process.argv.splice(2, 1);
  await import('../cluster-test/main.js');
} else {
  await import('./manage.js');
}
