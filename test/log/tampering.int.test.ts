import { expect } from 'chai';
import { verifyLog } from '../../src/log/verification.js';
import { CAUSE, type Instance, command, expectDone, field, startInstance, table } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';

/** With the trigger disabled, as a superuser can. `$1` is the position. */
const TAMPERING: Record<string, { sql: string[]; at?: 'end' }> = {
  'a changed payload': { sql: [`UPDATE service.service_events SET data = data || '{"extra": 1}' WHERE position = $1`] },
  'a changed value inside a payload': {
    sql: [
      `UPDATE service.service_events SET data = jsonb_set(data, '{collection,meta,note}', '"forged"') WHERE position = $1`,
    ],
  },
  'another actor': {
    sql: [`UPDATE service.service_events SET actor = actor || '{"name": "Mallory"}' WHERE position = $1`],
  },
  'another time': {
    sql: [`UPDATE service.service_events SET occurred_at = occurred_at - interval '1 ms' WHERE position = $1`],
  },
  'another reason': { sql: [`UPDATE service.service_events SET reason = 'it was ordered' WHERE position = $1`] },
  'an acknowledgement of nothing': {
    sql: [
      `UPDATE service.service_events SET type = 'log.acknowledged', subject = '{"kind": "log", "id": "1"}', data = '{}'
        WHERE position = $1`,
    ],
  },
  'an acknowledgement of another shape': {
    sql: [
      `UPDATE service.service_events SET type = 'log.acknowledged', subject = '{"kind": "log", "id": "1"}',
         data = '{"divergences": [null, 7, {"seen": 1, "found": {}}]}' WHERE position = $1`,
    ],
  },
  'a deleted event': { sql: ['DELETE FROM service.service_events WHERE position = $1'] },
  'the last event deleted': { sql: ['DELETE FROM service.service_events WHERE position = $1'], at: 'end' },
  'an inserted event': {
    sql: [
      'UPDATE service.service_events SET position = -position WHERE position >= $1',
      'UPDATE service.service_events SET position = 1 - position WHERE position < 0',
      `INSERT INTO service.service_events SELECT ($1)::bigint, gen_random_uuid(), batch, type, version, 'forged', field, data, actor,
         command, reason, request_id, ip, user_agent, occurred_at, previous_hash, hash, commitment, salt
         FROM service.service_events WHERE position = $1 + 1`,
    ],
  },
  'two swapped events': {
    sql: [
      'UPDATE service.service_events SET position = 1000000 WHERE position = $1',
      'UPDATE service.service_events SET position = $1 WHERE position = $1 + 1',
      'UPDATE service.service_events SET position = $1 + 1 WHERE position = 1000000',
    ],
  },
  'swapped payloads': {
    sql: [
      `UPDATE service.service_events a SET data = b.data FROM service.service_events b
        WHERE (a.position, b.position) IN (($1, $1 + 1), ($1 + 1, $1))`,
    ],
  },
};

describe('tampering with the log', () => {
  let database: TestDatabase;
  let instance: Instance;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
    for (let number = 1; number <= 8; number += 1) {
      expectDone(
        await instance.pipeline.apply('create-collection', table(`c${number}`, [field('x')]), { cause: CAUSE }),
      );
    }
    const change = command('update-collection', { collection: 'c1', body: { meta: { note: 'last' } } });
    expectDone(await instance.pipeline.apply('update-collection', change, { cause: CAUSE }));
  });

  afterEach(async () => {
    await instance.stop();
    await database.drop();
  });

  const verify = () => verifyLog(instance.pool, { position: 0, hash: '' });

  it('is not reported for an intact log', async () => {
    expect(await verify()).to.deep.include({ ok: true, checked: 9 });
  });

  for (const [name, { sql, at }] of Object.entries(TAMPERING)) {
    it(`is found for ${name} at its position`, async () => {
      const position = at === 'end' ? 9 : 4;
      await instance.pool.query('ALTER TABLE service.service_events DISABLE TRIGGER service_events_append_only');
      await instance.pool.query('ALTER TABLE service.service_events DROP CONSTRAINT service_events_position_check');
      for (const statement of sql) await instance.pool.query(statement.replaceAll('$1', String(position)));
      await instance.pool.query('ALTER TABLE service.service_events ENABLE ALWAYS TRIGGER service_events_append_only');
      const result = await verify();
      expect(result.ok).to.equal(false);
      expect(result.broken?.position).to.equal(position);
      expect(result.checked).to.equal(position - 1);
    });
  }

  it('is found by a running service after a complete rewrite', async () => {
    const seen = instance.store.point().head;
    expect(await verifyLog(instance.pool, seen)).to.include({ ok: true });
    const forged = { ...seen, hash: 'f'.repeat(64) };
    expect((await verifyLog(instance.pool, forged)).broken?.position).to.equal(9);
  });
});
