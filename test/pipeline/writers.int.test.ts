import { expect } from 'chai';
import { verifyChain } from '../../src/log/verification.js';
import type { Outcome } from '../../src/pipeline/index.js';
import { snapshotHash } from '../../src/schema/snapshot/snapshot.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { CAUSE, type Instance, command, field, startInstance, table } from '../support/instance.js';
import { eventsOf } from '../support/log.js';
import { runToEnd } from '../../src/kernel/resumable.js';

const PROCESSES = 3;
const WRITERS = 16;
const ROUNDS = 8;

describe('sixteen writers on three processes', () => {
  let database: TestDatabase;
  let instances: Instance[];

  before(async () => {
    database = await createDatabase('migrated');
    instances = await Promise.all(
      Array.from({ length: PROCESSES }, () => startInstance(database.connectionString, { lockTimeout: 60_000 })),
    );
  });

  after(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    await database.drop();
  });

  it('log every accepted command once without gaps, with one state', async () => {
    const outcomes: { note: string; outcome: Outcome }[] = [];
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const { pipeline } = instances[(writer + round) % PROCESSES] as Instance;
          // Half of the names are requested by all writers.
          const name = round % 2 === 0 ? `everybody ${round}` : `writer ${writer} ${round}`;
          const note = `${writer}/${round}`;
          const request = { cause: { ...CAUSE, reason: note } };
          const create = table(name, [field('a', 'integer')], { note });
          outcomes.push({ note, outcome: await pipeline.apply('create-collection', create, request) });
          const update = command('update-collection', { collection: name, body: { meta: { note: `${note}!` } } });
          outcomes.push({
            note: `${note}!`,
            outcome: await pipeline.apply('update-collection', update, { cause: { ...CAUSE, reason: `${note}!` } }),
          });
        }
      }),
    );
    const events = await eventsOf((instances[0] as Instance).pool);
    expect(events.map((event) => event.position)).to.deep.equal(events.map((_, index) => index + 1));

    const accepted = outcomes.filter(({ outcome }) => outcome.kind === 'done');
    expect(accepted.map(({ note }) => note).sort()).to.deep.equal(events.map((event) => event.reason ?? '').sort());
    for (const { note, outcome } of accepted) {
      if (outcome.kind !== 'done') continue;
      expect(outcome.events.map((event) => event.reason)).to.deep.equal([note]);
      expect(events[outcome.position - 1]?.hash).to.equal(outcome.events[0]?.hash);
    }
    const refused = outcomes.filter(({ outcome }) => outcome.kind === 'refused');
    expect(refused).to.have.length((WRITERS - 1) * (ROUNDS / 2));
    for (const { outcome } of refused) {
      expect(outcome.kind === 'refused' && outcome.problems[0]?.code).to.equal('ALREADY_EXISTS');
    }

    expect(await verifyChain((instances[0] as Instance).pool)).to.include({ ok: true, checked: events.length });
    const states = await Promise.all(instances.map(({ store }) => store.atHead(events.length)));
    expect(new Set(states.map((state) => runToEnd(snapshotHash(state, '1')))).size).to.equal(1);
  });
});
