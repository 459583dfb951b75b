import { expect } from 'chai';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { createDatabase } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

interface FieldDocument {
  collection: string;
  field: string;
  meta: { note: string | null };
  schema: { data_type: string; default_value: unknown; is_nullable: boolean; is_indexed: boolean };
}

interface Constraint {
  name: string;
  definition: string;
}

interface Snapshot {
  collections: { collection: string; schema?: { comment: string | null; extras?: { constraints?: Constraint[] } } }[];
  fields: FieldDocument[];
}

/**
 * `a_kid` sorts before its parent and `z_kid` after it. `own` defines the columns itself. `elsewhere.kid` cannot be
 * managed, and its child can.
 */
const TABLES = `
CREATE TABLE base (id int PRIMARY KEY, a int DEFAULT 1, b int);
CREATE TABLE a_kid () INHERITS (base);
CREATE TABLE z_kid (more int) INHERITS (base);
CREATE TABLE grandkid () INHERITS (a_kid);
CREATE TABLE own (a int DEFAULT 7 NOT NULL, b int, x text) INHERITS (base);
CREATE TABLE diamond () INHERITS (a_kid, z_kid);
CREATE SCHEMA elsewhere;
CREATE TABLE elsewhere.kid () INHERITS (base);
CREATE TABLE distant () INHERITS (elsewhere.kid);
CREATE TYPE mood AS ENUM ('calm', 'keen');
CREATE TABLE uses_mood (id int PRIMARY KEY, mood mood);
INSERT INTO a_kid VALUES (1, 2, 3);`;

const ALL = ['a_kid', 'base', 'diamond', 'distant', 'grandkid', 'own', 'z_kid'];
const KIDS = ALL.filter((name) => name !== 'base');

describe('changing a column that managed tables inherit', function () {
  this.timeout(300_000);
  // Rows, catalog and log agree at the end of each test.
  const { api, service } = withService({ each: true, consistent: true });

  beforeEach(async () => {
    await api.sql(TABLES);
    await api.ok('POST', '/schema/adopt', { all: true });
    await api.ok('PATCH', '/fields/a_kid/a', { meta: { note: 'of the kid' }, schema: { is_indexed: true } });
  });

  const snapshot = (query = '') => api.ok<Snapshot>('GET', `/schema/snapshot${query}`);
  const fieldsNamed = async (name: string): Promise<Map<string, FieldDocument>> => {
    const { fields } = await snapshot();
    return new Map(fields.filter(({ field }) => field === name).map((each) => [each.collection, each]));
  };
  const noDrift = async (): Promise<void> => {
    const { tables } = await api.ok<{ tables: object[] }>('GET', '/schema/drift');
    expect(JSON.stringify(tables)).to.equal('[]');
  };
  /** Each change keeps the log and the catalog equal, in the present, in the past and in a replay. */
  const changed = async (change: () => Promise<unknown>): Promise<string[]> => {
    const before = await snapshot();
    const head = await api.head();
    await change();
    await noDrift();
    const after = await snapshot();
    const events = await api.events(head);
    const { fields, collections } = before;
    expect(await api.ok('GET', `/history/snapshot?at=${head}`)).to.deep.include({ fields, collections });
    const other = await createDatabase();
    try {
      const replayed = await dps(['rebuild', 'tables', '--into', other.connectionString], {
        DATABASE_URL: service.databaseUrl,
      });
      expect(replayed.code, `${replayed.out}${replayed.err}`).to.equal(0);
    } finally {
      await other.drop();
    }
    const back = await api.ok<object>('GET', `/history/diff?to=${head}`);
    await api.ok('POST', '/schema/apply?purge', back);
    await noDrift();
    expect((await snapshot()).fields).to.have.deep.members(before.fields);
    expect((await snapshot()).collections).to.have.deep.members(before.collections);
    await api.ok(
      'POST',
      '/schema/apply?purge',
      await api.ok<object>('GET', `/history/diff?to=${head + events.length}`),
    );
    await noDrift();
    expect((await snapshot()).fields).to.have.deep.members(after.fields);
    expect((await snapshot()).collections).to.have.deep.members(after.collections);
    return events;
  };

  it('adds the column to the children in the same batch, with its type and default', async () => {
    const column = { field: 'c', type: 'string', schema: { default_value: 'x', is_nullable: false, is_indexed: true } };
    const plan = await api.ok<{ events: { type: string; collection: string; data: object }[] }>(
      'POST',
      '/fields/base?explain',
      column,
    );
    const events = await changed(() => api.ok('POST', '/fields/base', column));
    expect(plan.events.map(({ type, collection }) => `${type} ${collection}.c`)).to.deep.equal(events);
    expect(events.sort()).to.deep.equal(ALL.map((name) => `field.created ${name}.c`));
    const childFields = await fieldsNamed('c');
    expect([...childFields.keys()].sort()).to.deep.equal(ALL);
    for (const [name, { schema }] of childFields)
      expect(schema, name).to.include({ default_value: 'x', is_nullable: false, is_indexed: name === 'base' });
  });

  it('keeps the column of a child that has one of that name', async () => {
    const events = await changed(() => api.ok('POST', '/fields/base', { field: 'x', type: 'text' }));
    expect(events).to.have.members(ALL.filter((name) => name !== 'own').map((name) => `field.created ${name}.x`));
  });

  it('rejects a column whose name a child gives to a field without a column', async () => {
    await api.ok('POST', '/fields/z_kid', { field: 'c', type: 'alias' });
    const expected = { status: 409, code: 'ALREADY_EXISTS' };
    const refused = await api.refused(expected, 'POST', '/fields/base', { field: 'c', type: 'text' });
    expect(refused.message).to.contain('"z_kid"');
    expect(refused.extensions).to.include({ collection: 'base', field: 'c' });
    await api.ok('DELETE', '/fields/z_kid/c');
  });

  it('renames the column of the children, with their indexes and metadata', async () => {
    const events = await changed(() => api.ok('POST', '/fields/base/a/rename', { to: 'renamed' }));
    expect(events.sort()).to.deep.equal(ALL.map((name) => `field.renamed ${name}.a`));
    const childFields = await fieldsNamed('renamed');
    expect([...childFields.keys()].sort()).to.deep.equal(ALL);
    expect(childFields.get('a_kid')).to.nested.include({ 'meta.note': 'of the kid', 'schema.is_indexed': true });
  });

  it('changes type, default and nullability of the children', async () => {
    await api.sql('UPDATE base SET a = 1 WHERE a IS NULL');
    const schema = { data_type: 'bigint', default_value: 9, is_nullable: false };
    const events = await changed(() => api.ok('PATCH', '/fields/base/a', { type: 'bigInteger', schema }));
    expect(events.sort()).to.deep.equal(ALL.map((name) => `field.updated ${name}.a`));
    const childFields = await fieldsNamed('a');
    for (const name of KIDS)
      expect(childFields.get(name)?.schema, name).to.include({ data_type: 'bigint', is_nullable: false });
    expect(childFields.get('a_kid')).to.nested.include({ 'meta.note': 'of the kid', 'schema.is_indexed': true });
  });

  it('allows null in the children, except where a constraint of their own forbids it', async () => {
    await api.sql('UPDATE base SET a = 1 WHERE a IS NULL');
    await api.ok('PATCH', '/fields/base/a', { schema: { is_nullable: false } });
    await noDrift();
    await changed(() => api.ok('PATCH', '/fields/base/a', { schema: { is_nullable: true, default_value: null } }));
    const childFields = await fieldsNamed('a');
    expect(childFields.get('z_kid')?.schema).to.include({ is_nullable: true, default_value: null });
  });

  it('adds a column of an enum, which the children then need', async () => {
    const document = await snapshot();
    const { fields } = document;
    const mood = fields.find(({ collection, field }) => collection === 'uses_mood' && field === 'mood');
    const added = { ...mood, collection: 'base', meta: null, schema: { ...mood?.schema, table: 'base' } };
    const needs = (name: string) => {
      const match = document.collections.find(({ collection }) => collection === name) as {
        schema?: { extras?: object };
      };
      return match.schema?.extras;
    };
    const collections = document.collections.map((each) =>
      each.collection === 'base'
        ? { ...each, schema: { ...(each as { schema?: object }).schema, extras: needs('uses_mood') } }
        : each,
    );
    await changed(async () => {
      const diff = await api.ok<object>('POST', '/schema/diff', {
        ...document,
        collections,
        fields: [...fields, added],
      });
      await api.ok('POST', '/schema/apply', diff);
    });
    expect([...(await fieldsNamed('mood')).keys()].sort()).to.deep.equal([...ALL, 'uses_mood'].sort());
  });

  it('applies a diff that changes the parent and its children alike, and makes further changes to the children', async () => {
    const document = await snapshot();
    const fields = document.fields.map((each) => {
      if (each.field !== 'b' || !ALL.includes(each.collection)) return each;
      const isIndexed = each.collection === 'z_kid';
      const schema = { ...each.schema, data_type: 'bigint', is_indexed: isIndexed, default_value: isIndexed ? 4 : 5 };
      return { ...each, type: 'bigInteger', schema };
    });
    await changed(async () => {
      const diff = await api.ok<object>('POST', '/schema/diff', { ...document, fields });
      await api.ok('POST', '/schema/apply', diff);
    });
    const childFields = await fieldsNamed('b');
    expect(childFields.get('z_kid')?.schema).to.include({ data_type: 'bigint', is_indexed: true, default_value: 4 });
    expect(childFields.get('a_kid')?.schema).to.include({ data_type: 'bigint', is_indexed: false, default_value: 5 });
  });

  it('applies a change request with the plan that was approved', async () => {
    const document = await snapshot();
    const fields = document.fields.map((each) =>
      each.collection === 'base' && each.field === 'b'
        ? { ...each, schema: { ...each.schema, default_value: 3 } }
        : each,
    );
    const asked = { title: 'a default', snapshot: { ...document, fields } };
    const { data } = await api.ok<{ data: { id: string; plan: string } }>('POST', '/changes', asked);
    await api.ok('POST', `/changes/${data.id}/approve`, { plan: data.plan });
    await changed(() => api.ok('POST', `/changes/${data.id}/apply`));
    for (const [name, { schema }] of await fieldsNamed('b')) expect(schema.default_value, name).to.equal(3);
  });

  it('renames the parent without drift, and changes its columns afterwards in the same batch', async () => {
    await api.ok('POST', '/collections/base/rename', { to: 'renamed' });
    await noDrift();
    await api.ok('POST', '/fields/renamed/id/rename', { to: 'key' });
    await noDrift();
    expect([...(await fieldsNamed('key')).keys()]).to.have.members(['renamed', ...KIDS]);
  });

  it('rejects renaming or retyping a column with several parents, names them, and leaves nothing behind', async () => {
    await api.sql('CREATE TABLE side (a int); CREATE TABLE "both" () INHERITS (base, side)');
    await api.ok('POST', '/schema/adopt', { tables: ['side', 'both'] });
    const head = await api.head();
    const retyped = { type: 'bigInteger', schema: { data_type: 'bigint' } };
    for (const [method, path, body, what] of [
      ['POST', '/fields/base/a/rename', { to: 'renamed' }, 'name'],
      ['POST', '/fields/base/a/rename?explain', { to: 'renamed' }, 'name'],
      ['PATCH', '/fields/base/a', retyped, 'type'],
    ] as const) {
      const refused = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, method, path, body);
      expect(refused.message).to.equal(
        `The ${what} of column "a" of "base" cannot be changed: the table "both" inherits the column from base and side, ` +
          'and PostgreSQL does not change it for one of several parents. Detach the table from the other parents ' +
          '(ALTER TABLE "both" NO INHERIT …), change the column in all of them, and attach it again.',
      );
      expect(refused.extensions).to.deep.include({ field: 'a', inherited_by: ['"both"'], parents: ['base', 'side'] });
    }
    expect(await api.head()).to.equal(head);
    await api.sql('ALTER TABLE "both" NO INHERIT side');
    await api.ok('PATCH', '/fields/base/a', retyped);
    await api.ok('PATCH', '/fields/side/a', retyped);
    await api.sql('ALTER TABLE "both" INHERIT side');
    await noDrift();
    await api.ok('PATCH', '/fields/base/a', { schema: { default_value: 5 } });
    await noDrift();
    await api.ok('POST', '/fields/base', { field: 'c', type: 'integer' });
    await api.ok('POST', '/fields/side', { field: 'c', type: 'integer' });
    await noDrift();
  });

  it('rejects changing the column of a child, and names the parents', async () => {
    const head = await api.head();
    for (const [collection, parents] of [
      ['grandkid', 'a_kid'],
      ['diamond', 'a_kid and z_kid'],
      ['distant', 'elsewhere.kid'],
    ] as const)
      for (const [method, path, body] of [
        ['POST', '/rename', { to: 'renamed' }],
        ['PATCH', '', { type: 'bigInteger', schema: { data_type: 'bigint' } }],
        ['DELETE', '?purge', undefined],
      ] as const) {
        const at = `/fields/${collection}/b${path}`;
        const refused = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, method, at, body);
        expect(refused.message, at).to.equal(
          `Column "b" of "${collection}" cannot be changed: the table inherits it from ${parents}. ` +
            'Change the column there, which changes it here too.',
        );
        expect(refused.extensions['parents']).to.deep.equal(parents.split(' and '));
      }
    expect(await api.head()).to.equal(head);
  });

  it('produces a finding exactly where PostgreSQL rejects changing the column in the child alone', async () => {
    await api.sql(`ALTER TABLE base ADD CONSTRAINT positive CHECK (b > 0), ADD COLUMN c int NOT NULL DEFAULT 1;
      CREATE TABLE side (s text, t text NOT NULL);
      CREATE TABLE "Both" () INHERITS (distant, side);
      CREATE TABLE below () INHERITS ("Both");
      ALTER TABLE base ADD COLUMN s text, ADD COLUMN t text NOT NULL DEFAULT '';
      UPDATE base SET s = ''`);
    await api.ok('POST', '/schema/drift/accept', {});
    await api.ok('POST', '/schema/adopt', { tables: ['side', 'Both', 'below'] });
    const whole = await snapshot();
    type Edit = (document: Snapshot) => void;
    const edited = (name: string, field: string, values: object): Edit => {
      return ({ fields }) => {
        const found = fields.find((each) => each.collection === name && each.field === field);
        if (found !== undefined) Object.assign(found, values);
      };
    };
    const retyped = (name: string): Edit => edited(name, 'a', { type: 'bigInteger', schema: { data_type: 'bigint' } });
    const renamed = (name: string): Edit =>
      edited(name, 'a', { field: 'other', renamed_from: 'a', schema: undefined, meta: undefined });
    const nullable = (name: string): Edit => edited(name, 'c', { schema: { data_type: 'integer', is_nullable: true } });
    const deleted = (name: string): Edit => {
      return (document) => {
        document.fields = document.fields.filter(({ collection, field }) => collection !== name || field !== 'a');
      };
    };
    const unchecked = (name: string): Edit => {
      return ({ collections }) => {
        const { extras } = collections.find(({ collection }) => collection === name)?.schema ?? {};
        if (extras !== undefined) extras.constraints = [];
      };
    };
    const commented = (name: string): Edit => edited(name, 'a', { meta: { note: 'n' } });
    const shared = (name: string, values: object): Edit => edited(name, 's', values);
    const shorter = { type: 'string', schema: { data_type: 'character varying', max_length: 9 } };
    const sorted = { schema: { data_type: 'text', extras: { collation: 'C' } } };
    const renamedTo = (name: string, to: string): Edit =>
      edited(name, 's', { field: to, renamed_from: 's', schema: undefined, meta: undefined });
    const required = (name: string): Edit => shared(name, { schema: { data_type: 'text', is_nullable: false } });
    const optional = (name: string): Edit => edited(name, 't', { schema: { data_type: 'text', is_nullable: true } });
    const dropped = (name: string): Edit => {
      return (document) => {
        document.fields = document.fields.filter(({ collection, field }) => collection !== name || field !== 's');
      };
    };
    for (const [edits, finding] of [
      [[retyped('z_kid')], 'a of base'],
      [[renamed('z_kid')], 'a of base'],
      [[deleted('z_kid')], 'a of base'],
      [[deleted('own')], 'a of base'],
      [[unchecked('z_kid')], 'b of base'],
      [[retyped('distant')], 'a of elsewhere.kid'],
      [[deleted('diamond')], 'a of a_kid and z_kid'],
      [[retyped('grandkid'), retyped('z_kid')], 'a of a_kid'],
      [[commented('z_kid')], undefined],
      [[retyped('base'), retyped('z_kid')], undefined],
      [[retyped('base'), retyped('grandkid'), retyped('distant')], undefined],
      [[renamed('base'), renamed('z_kid')], undefined],
      [[deleted('base'), deleted('z_kid'), deleted('own')], undefined],
      [[unchecked('base'), unchecked('grandkid')], undefined],
      [[nullable('base'), nullable('z_kid')], undefined],
      [[shared('base', shorter)], 's of distant and side'],
      [[shared('side', shorter)], 's of distant and side'],
      [[shared('distant', shorter)], 's of elsewhere.kid'],
      [[shared('base', shorter), shared('side', shorter)], 's of distant and side'],
      [[shared('Both', shorter)], 's of distant and side'],
      [[shared('base', sorted)], 's of distant and side'],
      [[renamedTo('base', 'u')], 's of distant and side'],
      [[renamedTo('base', 'u'), renamedTo('side', 'u'), renamedTo('Both', 'u')], 's of distant and side'],
      [[required('base')], undefined],
      [[optional('base')], undefined],
      [[optional('side')], undefined],
      [[dropped('base')], undefined],
      [[dropped('side')], undefined],
      [[dropped('base'), dropped('side'), dropped('Both')], undefined],
      [[shared('side', { schema: { data_type: 'text', default_value: 'x' } })], undefined],
    ] as const) {
      const document = structuredClone(whole);
      for (const each of edits) each(document);
      const diff = await api.ok<{ warnings?: { code: string; level: string; message: string }[] }>(
        'POST',
        '/schema/diff',
        document,
      );
      const warnings = (diff.warnings ?? []).filter(({ code }) => code === 'INHERITED');
      const { status, json: plan } = await api.client('/schema/apply?purge&dry_run', json(diff));
      const isAccepted = status === 200 && (plan as { accepted: boolean }).accepted;
      expect(isAccepted, `${JSON.stringify(plan)} ${finding}`).to.equal(finding === undefined);
      expect(warnings.length > 0, JSON.stringify(diff)).to.equal(finding !== undefined);
      const [, parents = ''] = finding?.split(' of ') ?? [];
      for (const { level, message } of warnings.slice(0, 1)) {
        expect(level).to.equal('danger');
        expect(message).to.match(
          new RegExp(
            `inherits (?:it|the column) from ${parents}, (so PostgreSQL rejects it\\. Change the|and PostgreSQL)`,
          ),
        );
      }
    }
  });

  describe('with CHECK constraints', () => {
    const positive = { name: 'positive', definition: 'CHECK ((b > 0))' };
    type Edit = (constraints: Constraint[]) => Constraint[];
    /** Edits the constraints of each named table in one batch. */
    const edit = async (edits: Readonly<Record<string, Edit>>, comment?: string): Promise<unknown> => {
      const document = await snapshot();
      for (const { collection, schema } of document.collections) {
        const change = edits[collection];
        if (change === undefined || schema === undefined) continue;
        schema.extras = { ...schema.extras, constraints: change(schema.extras?.constraints ?? []) };
        if (comment !== undefined) schema.comment = comment;
      }
      return api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', document));
    };
    const add =
      (constraint: Constraint): Edit =>
      (all) => [...all, constraint];
    const drop =
      ({ name }: Constraint): Edit =>
      (all) =>
        all.filter((each) => each.name !== name);
    const checks = async (name = positive.name): Promise<Record<string, string>> => {
      const { collections } = await snapshot();
      return Object.fromEntries(
        collections.flatMap(({ collection, schema }) => {
          const check = schema?.extras?.constraints?.find((each) => each.name === name);
          return check === undefined ? [] : [[collection, check.definition]];
        }),
      );
    };
    const updated = (names: readonly string[]) => names.map((name) => `collection.updated ${name}`);
    const each = (names: readonly string[], definition: string) =>
      Object.fromEntries(names.map((name) => [name, definition]));

    it('adds them to the children in the same batch, changes and drops them there', async () => {
      const added = await changed(() => edit({ base: add(positive) }));
      expect(added.sort()).to.deep.equal(updated(ALL));
      expect(await checks()).to.deep.equal(each(ALL, positive.definition));
      const other = { ...positive, definition: 'CHECK ((b > 1))' };
      const changes = await changed(() => edit({ base: (all) => [...drop(positive)(all), other] }));
      expect([...new Set(changes)].sort()).to.deep.equal(updated(ALL));
      expect(await checks()).to.deep.equal(each(ALL, other.definition));
      const dropped = await changed(() => edit({ base: drop(positive) }));
      expect(dropped.sort()).to.deep.equal(updated(ALL));
      expect(await checks()).to.deep.equal({});
    });

    it('keeps the constraint that a child defines itself, and merges it by its name', async () => {
      await edit({ own: add(positive) });
      const others = ALL.filter((name) => name !== 'own');
      expect((await changed(() => edit({ base: add(positive) }))).sort()).to.deep.equal(updated(others));
      expect((await changed(() => edit({ base: drop(positive) }))).sort()).to.deep.equal(updated(others));
      expect(await checks()).to.deep.equal(each(['own'], positive.definition));
      const different = { ...positive, definition: 'CHECK ((b > 1))' };
      const document = await snapshot();
      const base = document.collections.find(({ collection }) => collection === 'base');
      if (base?.schema === undefined) throw new Error('the snapshot has no table "base"');
      base.schema.extras = { ...base.schema.extras, constraints: [different] };
      const diff = await api.ok<object>('POST', '/schema/diff', document);
      const refused = await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/schema/apply', diff);
      expect(refused.message).to.contain(
        '"positive" is already the name of a constraint of own, which inherits from it',
      );
      expect(refused.message).to.contain('with the definition CHECK ((b > 0))');
      expect(refused.message).to.contain('Use the same definition, or rename or drop the constraint');
    });

    it('does not pass on constraints with NO INHERIT', async () => {
      const constraint = { name: 'alone', definition: 'CHECK ((b > 0)) NO INHERIT' };
      expect(await changed(() => edit({ base: add(constraint) }))).to.deep.equal(updated(['base']));
      expect(await changed(() => edit({ base: drop(constraint) }))).to.deep.equal(updated(['base']));
    });

    it('keeps constraints that another parent still has', async () => {
      await api.sql('CREATE TABLE side (b int); CREATE TABLE "both" () INHERITS (base, side)');
      await api.ok('POST', '/schema/adopt', { tables: ['side', 'both'] });
      await edit({ side: add(positive) });
      await edit({ base: add(positive) });
      await noDrift();
      await edit({ base: drop(positive) });
      await noDrift();
      expect(await checks()).to.deep.equal(each(['both', 'side'], positive.definition));
      await edit({ base: add(positive), side: drop(positive) });
      await noDrift();
      expect(await checks()).to.deep.equal(each([...ALL, 'both'].sort(), positive.definition));
      await edit({ base: drop(positive), side: add(positive) });
      await edit({ side: drop(positive) });
      await noDrift();
      expect(await checks()).to.deep.equal({});
    });

    it('applies changes of a parent and its children in one batch', async () => {
      const more = { name: 'more', definition: 'CHECK ((b > 2))' };
      await changed(() =>
        edit({ base: add(positive), a_kid: (all) => [...all, more, positive], z_kid: add(more) }, 'with rules'),
      );
      expect(await checks()).to.deep.equal(each(ALL, positive.definition));
      expect(await checks('more')).to.deep.equal(each(['a_kid', 'diamond', 'grandkid', 'z_kid'], more.definition));
      await edit({ base: drop(positive), a_kid: () => [], z_kid: drop(positive), grandkid: () => [] });
      await noDrift();
      expect(await checks()).to.deep.equal({});
      expect(await checks('more')).to.deep.equal(each(['diamond', 'z_kid'], more.definition));
    });

    it('adds the functions and types that a constraint needs to the children', async () => {
      const document = await snapshot();
      const mood = document.collections.find(({ collection }) => collection === 'uses_mood')?.schema?.extras;
      const base = document.collections.find(({ collection }) => collection === 'base');
      if (base?.schema === undefined) throw new Error('the snapshot has no table "base"');
      const constraint = { name: 'calm', definition: `CHECK (((b)::text <> ('calm'::mood)::text))` };
      base.schema.extras = { ...mood, constraints: [constraint] };
      await changed(async () => {
        await api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', document));
      });
      expect(Object.keys(await checks('calm')).sort()).to.deep.equal(ALL);
    });
  });

  it('does not change partitions or unrelated tables', async () => {
    await api.sql(`CREATE TABLE parts (k int NOT NULL, a int) PARTITION BY LIST (k);
      CREATE TABLE part PARTITION OF parts FOR VALUES IN (1)`);
    await api.ok('POST', '/schema/adopt', { tables: ['parts', 'part'] });
    await api.appends(['field.updated parts.a'], 'PATCH', '/fields/parts/a', { schema: { comment: 'c' } });
    await api.appends(['field.created uses_mood.c'], 'POST', '/fields/uses_mood', { field: 'c', type: 'text' });
    await noDrift();
  });

  it('changes the expression of a generated column in the children too', async () => {
    await api.sql(`CREATE TABLE sums (id int PRIMARY KEY, n int, twice int GENERATED ALWAYS AS (n * 2) STORED);
      CREATE TABLE heir () INHERITS (sums)`);
    await api.ok('POST', '/schema/adopt', { tables: ['sums', 'heir'] });
    await changed(() => api.ok('PATCH', '/fields/sums/twice', { schema: { generation_expression: 'n * 3' } }));
    await changed(() => api.ok('PATCH', '/fields/sums/n', { type: 'bigInteger', schema: { data_type: 'bigint' } }));
  });
});
