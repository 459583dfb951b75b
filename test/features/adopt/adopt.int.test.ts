import { expect } from 'chai';
import { CAUSE, refusedWith } from '../../support/instance.js';
import { replayInto } from '../../../src/cli/connections/projections.js';
import { readRecordPages } from '../../../src/log/read.js';
import { createDatabase, testServer } from '../../support/postgres.js';
import { HARD_SCHEMA, UNREPRESENTED } from './hard-schema.js';
import { adopt, expectVerified, promote, roundTrip, startAdoptFixture } from './round-trip.js';
import { relationsInOrder } from '../../../src/schema/model/order.js';
import { catalogText } from '../../support/catalog-text.js';

describe('adopting tables', () => {
  // NULLS NOT DISTINCT and SET NULL for some columns came with 15.
  before(async function () {
    if ((await testServer()).majorVersion < 15) this.skip();
  });

  it('creates collections whose snapshot recreates the same catalog elsewhere', async () => {
    const { adoption } = await roundTrip(HARD_SCHEMA);
    expect(adoption.refused).to.deep.equal([]);
    expect(adoption.notRepresented).to.deep.equal([]);
  });

  it('creates the same events for tables with rows', async () => {
    const { adoption } = await roundTrip(
      HARD_SCHEMA,
      `INSERT INTO events VALUES (1, '2024-05-05', 'sad', 'x'); INSERT INTO no_key VALUES (1, 'a')`,
    );
    expect(adoption.notRepresented).to.deep.equal([]);
  });

  it('keeps virtual generated columns', async function () {
    if ((await testServer()).majorVersion < 18) this.skip();
    await roundTrip('CREATE TABLE t (id integer PRIMARY KEY, double integer GENERATED ALWAYS AS (id * 2) VIRTUAL)');
  });

  it('lists unsupported objects and leaves them unchanged', async () => {
    const fixture = await startAdoptFixture(UNREPRESENTED);
    try {
      const before = await catalogText(fixture.instance.pool);
      const { notRepresented, refused } = await adopt(fixture.instance);
      expect(await catalogText(fixture.instance.pool)).to.deep.equal(before);
      await expectVerified(fixture.instance);
      const listed = notRepresented.map(({ table, kind, name }) => `${table ?? '-'} ${kind} ${name}`);
      expect(listed).to.include.members([
        'noisy default word',
        'noisy generated column loud',
        'noisy index shouted',
        'noisy constraint noisy_word_check',
        'noisy trigger touched',
        'noisy view quiet',
        'noisy rule nothing',
        'noisy policy mine',
        'noisy row security enabled',
        'noisy storage parameter fillfactor=50',
        'noisy statistics object both_columns',
        'fleeting unlogged fleeting',
        'fleeting type pair',
        'heir inheritance fleeting',
        '- function shout(text)',
        '- function touch()',
      ]);
      expect(new Set(notRepresented.map(({ code }) => /^[A-Z_]+$/.test(code)))).to.deep.equal(new Set([true]));
      expect(refused.map(({ table, code }) => [table, code])).to.deep.equal([
        [' leading', 'NAME_NOT_ALLOWED'],
        ['extended', 'BELONGS_TO_EXTENSION'],
        ['hidden_column', 'COLUMN_NOT_ALLOWED'],
        ['service_webhooks', 'NAME_NOT_ALLOWED'],
      ]);
    } finally {
      await fixture.stop();
    }
  });

  it('adopts single tables, even next to managed ones', async () => {
    const { instance, stop } = await startAdoptFixture(HARD_SCHEMA);
    try {
      await adopt(instance, { tables: ['lines'] });
      expect([...instance.store.current().collections.keys()]).to.deep.equal(['lines']);
      await expectVerified(instance);
      await adopt(instance, { tables: ['counters', 'Or ders'] });
      await expectVerified(instance);
      const node = instance.store.current().collections.get('counters');
      const relations = node === undefined ? [] : relationsInOrder(node);
      expect(relations.map(({ many_field, one_collection }) => [many_field, one_collection])).to.deep.equal([
        ['line', 'lines'],
        ['line_too', 'lines'],
        ['twice', 'lines'],
      ]);
    } finally {
      await stop();
    }
  });

  it('rejects unknown, managed and unsupported tables, and names them', async () => {
    const { instance, stop } = await startAdoptFixture(
      HARD_SCHEMA + UNREPRESENTED.replace('CREATE EXTENSION citext;', ''),
    );
    const attempt = async (...tables: string[]): Promise<string> => {
      const outcome = await instance.pipeline.apply('adopt-tables', { request: { tables } }, { cause: CAUSE });
      return refusedWith(outcome);
    };
    try {
      await adopt(instance, { tables: ['no_key'] });
      expect(await attempt('nowhere')).to.equal('NOT_FOUND');
      expect(await attempt('no_key')).to.equal('ALREADY_EXISTS');
      expect(await attempt('service_events')).to.equal('NOT_FOUND');
      expect(await attempt(' leading')).to.equal('INVALID_PAYLOAD');
      expect(await attempt('events_2024')).to.equal('INVALID_PAYLOAD');
      await expectVerified(instance);
    } finally {
      await stop();
    }
  });

  it('can be replayed into an empty database', async () => {
    const source = await startAdoptFixture(HARD_SCHEMA);
    const target = await createDatabase();
    try {
      await adopt(source.instance);
      const { connectionString } = target;
      const pages = readRecordPages(source.instance.pool, { after: 0 });
      const replayed = await replayInto({
        connectionString,
        schema: 'public',
        serviceSchema: 'service',
        pages,
        tables: 'every-event',
      });
      expect(replayed.verification.differences).to.deep.equal([]);
      expect(replayed.collections).to.equal(source.instance.store.current().collections.size);
    } finally {
      await source.stop();
      await target.drop();
    }
  });

  it('can be replayed in slices in any order of tables', async () => {
    const many = Array.from(
      { length: 120 },
      (_, n) => `CREATE TABLE t${n} (a integer, b integer, PRIMARY KEY (a, b));`,
    );
    const ring = many.map((_, n) => `ALTER TABLE t${n} ADD FOREIGN KEY (a, b) REFERENCES t${(n + 61) % 120};`);
    const source = await startAdoptFixture([...many, ...ring].join('\n'));
    const target = await createDatabase();
    try {
      await adopt(source.instance);
      const pages = readRecordPages(source.instance.pool, { after: 0 });
      const { connectionString } = target;
      const replayed = await replayInto({
        connectionString,
        schema: 'public',
        serviceSchema: 'service',
        pages,
        tables: 'end-state',
      });
      expect(replayed.verification.differences).to.deep.equal([]);
    } finally {
      await source.stop();
      await target.drop();
    }
  });

  it('adopts tables of a managed schema other than public', async () => {
    const sql = `CREATE SCHEMA app; SET search_path = app; ${HARD_SCHEMA}`;
    const source = await startAdoptFixture(sql, 'app');
    const target = await startAdoptFixture('', 'public');
    try {
      await adopt(source.instance);
      await expectVerified(source.instance);
      await promote(source.instance, target.instance);
      await expectVerified(target.instance);
    } finally {
      await source.stop();
      await target.stop();
    }
  });
});
