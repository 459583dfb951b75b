/** Checks whether DB_POOLER matches the server. */
import { createClient } from '../postgres/pool.js';
import { isStartupRefused, isThroughPooler, unexpectedPooler } from '../postgres/pooler.js';
import type { Check } from './check.js';
import { finding } from './finding.js';

export const pooler: Check = {
  name: 'pooler',
  async run({ config, addresses }) {
    const { databasePooler } = config;
    if (databasePooler === null || config.databaseUrl === null) return [];
    const client = createClient({ ...config, ...addresses, applicationName: 'dps doctor' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const found = (await isThroughPooler(client)) ? 'transaction' : 'none';
      if (found === databasePooler) return [];
      const what = found === 'none' ? 'leads to the server itself' : 'leads through a pooler';
      return [finding('POOLER_UNEXPECTED', `DB_POOLER is ${databasePooler}, and DATABASE_URL ${what}.`)];
    } catch (error) {
      if (!isStartupRefused(error)) throw error;
      return [finding('POOLER_UNEXPECTED', unexpectedPooler(error).message)];
    } finally {
      await client.end().catch(() => undefined);
    }
  },
};
