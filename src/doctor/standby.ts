/** Checks whether a standby follows its primary. */
import type { Check } from './check.js';
import { finding } from './finding.js';

/** Seconds that a standby may lag. */
const PATIENCE = 60;

const FOLLOWING = `
  SELECT pg_get_wal_replay_pause_state() <> 'not paused' AS paused,
         EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver) AS receiving`;

export const standby: Check = {
  name: 'standby follows its primary',
  async run({ pool, server }) {
    if (!server.standby) return [];
    const { rows } = await pool.query<{ paused: boolean; receiving: boolean }>(FOLLOWING);
    const { paused = false, receiving = true } = rows[0] ?? {};
    const age = `it may be ${Math.ceil(server.lag)} seconds behind`;
    if (paused) return [finding('REPLAY_PAUSED', `The standby's replay is paused: ${age}.`)];
    if (!receiving) return [finding('STANDBY_BEHIND', `The standby has no connection to its primary: ${age}.`)];
    return server.lag > PATIENCE ? [finding('STANDBY_BEHIND', `The standby follows, and ${age}.`)] : [];
  },
};
