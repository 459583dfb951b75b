import { expect } from 'chai';
import { verify } from '../../../src/projector/verify/index.js';
import type { AdoptRequest } from '../../../src/schema/operations/adopt-tables.js';
import { CAUSE, type Instance, command, expectDone } from '../../support/instance.js';
import { catalogText } from '../../support/catalog-text.js';
import { type AdoptFixture, adopt, expectReplayed, expectVerified, promote, startAdoptFixture } from './round-trip.js';

const PAIR = `
CREATE TABLE par (id integer PRIMARY KEY);
CREATE TABLE kid (id integer PRIMARY KEY, p integer REFERENCES par ON DELETE CASCADE);`;

const WIDE = `
CREATE TABLE par (a integer, b integer, code text UNIQUE, PRIMARY KEY (a, b));
CREATE TABLE kid (id integer PRIMARY KEY, a integer CHECK (a > 0), b integer, code text REFERENCES par (code),
  CONSTRAINT a_wide FOREIGN KEY (a, b) REFERENCES par);`;

describe('foreign keys adopted before their target', () => {
  let fixture: AdoptFixture;
  afterEach(() => fixture.stop());

  const node = (name: string) => {
    const collectionNode = fixture.instance.store.current().collections.get(name);
    if (collectionNode === undefined) throw new Error(`there is no ${name}`);
    return collectionNode;
  };
  const extras = (name: string) => node(name).collection.schema?.extras;
  const relations = (name: string) =>
    [...node(name).relations.values()].map(
      ({ many_field, one_collection, schema }) => `${many_field} ${one_collection} ${schema?.constraint_name}`,
    );

  /** Adopts one after the other. The tables stay unchanged, and the log equals adopting both together. */
  async function adoptApart(sql: string, ...requests: AdoptRequest[]) {
    fixture = await startAdoptFixture(sql);
    const { instance } = fixture;
    const before = await catalogText(instance.pool);
    const adoptions = [];
    for (const request of requests) {
      adoptions.push(await adopt(instance, request));
      await expectVerified(instance);
    }
    expect(await catalogText(instance.pool)).to.deep.equal(before);
    await expectReplayed(instance);
    const target = await startAdoptFixture();
    try {
      await promote(instance, target.instance);
      await expectVerified(target.instance);
      expect(await catalogText(target.instance.pool)).to.deep.equal(before);
    } finally {
      await target.stop();
    }
    return adoptions;
  }

  const remove = async ({ pipeline }: Instance, collection: string): Promise<void> => {
    const cause = { ...CAUSE, command: 'delete-collection' };
    expectDone(await pipeline.apply('delete-collection', command('delete-collection', { collection }), { cause }));
  };

  it('become relations when the target is adopted', async () => {
    const [first, second] = await adoptApart(PAIR, { tables: ['kid'] }, { tables: ['par'] });
    expect(first?.notRepresented.map(({ name }) => name)).to.deep.equal(['kid_p_fkey']);
    expect(second?.notRepresented).to.deep.equal([]);
    expect(second?.relations).to.have.length(1);
    expect(second?.missing).to.deep.equal([]);
    expect(relations('kid')).to.deep.equal(['p par kid_p_fkey']);
    expect(extras('kid')).to.equal(undefined);
    await remove(fixture.instance, 'par');
    expect(relations('kid')).to.deep.equal([]);
    await expectVerified(fixture.instance);
    await expectReplayed(fixture.instance);
  });

  it('become extras if they are not relations', async () => {
    const [, second] = await adoptApart(WIDE, { tables: ['kid'] }, { all: true });
    expect(second?.notRepresented).to.deep.equal([]);
    expect(second?.completed).to.have.length(1);
    expect(relations('kid')).to.deep.equal([]);
    expect(extras('kid')?.unmanaged).to.equal(undefined);
    expect(extras('kid')?.constraints?.map(({ name, references }) => `${name} ${references ?? '-'}`)).to.deep.equal([
      'a_wide par',
      'kid_a_check -',
      'kid_code_fkey par',
    ]);
    await remove(fixture.instance, 'par');
    expect(extras('kid')?.constraints?.map(({ name }) => name)).to.deep.equal(['kid_a_check']);
    await expectVerified(fixture.instance);
    await expectReplayed(fixture.instance);
  });

  it('are created if an earlier snapshot was applied without them', async () => {
    for (const sql of [PAIR, WIDE]) {
      fixture = await startAdoptFixture(sql);
      const target = await startAdoptFixture();
      await adopt(fixture.instance, { tables: ['kid'] });
      await promote(fixture.instance, target.instance);
      await adopt(fixture.instance, { tables: ['par'] });
      await promote(fixture.instance, target.instance, { exact: true });
      await expectVerified(target.instance);
      expect(await catalogText(target.instance.pool)).to.deep.equal(await catalogText(fixture.instance.pool));
      await target.stop();
      if (sql === PAIR) await fixture.stop();
    }
  });

  it('are matched by table and column: one relation each, and the rest waits for its target', async () => {
    await adoptApart(
      `${PAIR} CREATE TABLE other (id integer PRIMARY KEY);
      ALTER TABLE kid ADD CONSTRAINT again FOREIGN KEY (p) REFERENCES par, ADD CONSTRAINT far FOREIGN KEY (p) REFERENCES other;
      CREATE TABLE near (id integer PRIMARY KEY REFERENCES par);`,
      { tables: ['kid', 'near'] },
      { tables: ['par'] },
      { tables: ['other'] },
    );
    expect(relations('kid')).to.deep.equal(['p par again']);
    expect(relations('near')).to.deep.equal(['id par near_id_fkey']);
    expect(extras('kid')).to.deep.equal({
      constraints: [
        { name: 'far', definition: 'FOREIGN KEY (p) REFERENCES other(id)', references: 'other' },
        {
          name: 'kid_p_fkey',
          definition: 'FOREIGN KEY (p) REFERENCES par(id) ON DELETE CASCADE',
          references: 'par',
        },
      ],
    });
  });

  it('include those of partitions', async () => {
    const split = `PARTITION BY RANGE (id); CREATE TABLE kid_1 PARTITION OF kid FOR VALUES FROM (1) TO (2)`;
    const parts = `
      CREATE TABLE par (id integer PRIMARY KEY); CREATE TABLE wide (a integer, b integer, PRIMARY KEY (a, b));
      CREATE TABLE kid (id integer, p integer REFERENCES par, a integer, b integer, FOREIGN KEY (a, b) REFERENCES wide) ${split}`;
    await adoptApart(parts, { tables: ['kid', 'kid_1'] }, { tables: ['par', 'wide'] });
    expect(relations('kid')).to.deep.equal(['p par kid_p_fkey']);
    expect(relations('kid_1')).to.have.length(1);
    for (const name of ['kid', 'kid_1']) expect(extras(name)?.constraints).to.have.length(1);
    await remove(fixture.instance, 'par');
    await remove(fixture.instance, 'wide');
    await expectVerified(fixture.instance);
  });

  it('are listed while they are not managed', async () => {
    fixture = await startAdoptFixture(PAIR);
    const { instance } = fixture;
    await adopt(instance, { tables: ['kid'] });
    await instance.pool.query('ALTER TABLE kid RENAME COLUMN p TO q');
    const { notRepresented, relations: none } = await adopt(instance, { tables: ['par'] });
    expect(none).to.deep.equal([]);
    expect(notRepresented.map(({ table, name, code }) => [table, name, code])).to.deep.equal([
      ['kid', 'kid_p_fkey', 'CONSTRAINT_NOT_REPRESENTED'],
    ]);
    await instance.pool.query('ALTER TABLE kid RENAME COLUMN q TO p');
    await expectVerified(instance);
    // Nothing else is left to adopt, and a second check finds the key.
    expect((await adopt(instance)).relations).to.have.length(1);
    expect(relations('kid')).to.deep.equal(['p par kid_p_fkey']);
    await expectVerified(instance);
  });

  it('give way to a key of the same name in the log', async () => {
    fixture = await startAdoptFixture(PAIR);
    const { instance } = fixture;
    await adopt(instance, { tables: ['kid'] });
    await instance.pool.query('ALTER TABLE kid DROP CONSTRAINT kid_p_fkey');
    await adopt(instance, { tables: ['par'] });
    expect(relations('kid')).to.deep.equal([]);
    const schema = { constraint_name: 'kid_p_fkey' };
    const body = { many_collection: 'kid', many_field: 'p', one_collection: 'par', schema };
    expectDone(
      await instance.pipeline.apply('create-relation', command('create-relation', { body }), { cause: CAUSE }),
    );
    await expectVerified(instance);
    await adopt(instance);
    await expectVerified(instance);
    await expectReplayed(instance);
    await instance.pool.query('ALTER TABLE kid DROP CONSTRAINT kid_p_fkey');
    const { differences } = await instance.pipeline.underLock((client, { state }) =>
      verify(client, state, instance.schema),
    );
    expect(differences.map(({ member }) => member)).to.deep.equal(['constraint kid_p_fkey']);
  });
});
