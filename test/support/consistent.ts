/** Checks the invariants of a database: the chain is intact, and fold, metadata rows and catalog agree. */
import { expect } from 'chai';
import { verifyChain } from '../../src/log/verification.js';
import { createPool, withClient } from '../../src/postgres/pool.js';
import { verify } from '../../src/projector/verify/index.js';
import { evolve } from '../../src/schema/fold/evolve.js';
import { type State, initialState } from '../../src/schema/model/state.js';
import type { StoredEvent } from '../../src/schema/model/events.js';
import { eventsOf } from './log.js';

/** Checks them and returns the fold and its events. */
export async function expectConsistent(databaseUrl: string): Promise<{ state: State; events: StoredEvent[] }> {
  const pool = createPool({
    connectionString: databaseUrl,
    schema: 'public',
    serviceSchema: 'service',
    max: 2,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  try {
    let state = initialState();
    const events = await eventsOf(pool);
    for (const [index, event] of events.entries()) {
      expect(event.position, 'the log has a gap').to.equal(index + 1);
      state = evolve(state, event);
    }
    expect(await verifyChain(pool)).to.include({ ok: true, checked: events.length });
    const { differences } = await withClient(pool, (client) => verify(client, state, 'public'));
    expect(differences, JSON.stringify(differences.slice(0, 3))).to.deep.equal([]);
    return { state, events };
  } finally {
    await pool.end();
  }
}
