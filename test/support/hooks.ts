/** Root hooks of the test run. */
import { stopTestServer } from './postgres.js';

export const mochaHooks = {
  async afterAll(this: Mocha.Context) {
    this.timeout(60_000);
    await stopTestServer();
  },
};
