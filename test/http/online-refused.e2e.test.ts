import { expect } from 'chai';
import { type Online, type Snapshot, column, fill, onlineOf } from '../support/online.js';
import { withService } from '../support/with-service.js';
import { json } from '../support/client.js';

const FIELDS = [column('code', 'integer'), column('owner', 'integer'), column('note'), column('spare')];

type Edit = (snapshot: Snapshot) => void;

const fieldOf = (snapshot: Snapshot, collection: string, field: string): Snapshot['fields'][number] => {
  const match = snapshot.fields.find((each) => each.collection === collection && each.field === field);
  if (match === undefined) throw new Error(`there is no ${collection}.${field}`);
  return match;
};
const edited =
  (collection: string, field: string, schema: object): Edit =>
  (snapshot) =>
    Object.assign(fieldOf(snapshot, collection, field).schema, schema);
const both =
  (...edits: Edit[]): Edit =>
  (snapshot) =>
    edits.forEach((edit) => edit(snapshot));

const renamedField =
  (field: string, to: string, schema: object): Edit =>
  (snapshot) => {
    const document = fieldOf(snapshot, 'items', field);
    Object.assign(document, { field: to, renamed_from: field });
    Object.assign(document.schema, { ...schema, ...('name' in document.schema && { name: to }) });
    Object.assign(document.meta, { ...('field' in document.meta && { field: to }) });
  };

const extras =
  (collection: string, more: Record<string, unknown>): Edit =>
  ({ collections }) => {
    const schema = collections.find((each) => each.collection === collection)?.schema;
    if (schema == null) throw new Error(`there is no ${collection}`);
    schema.extras = { ...schema.extras, ...more };
  };

const without =
  (collection: string, field: string): Edit =>
  (snapshot) => {
    snapshot.fields = snapshot.fields.filter((each) => each.collection !== collection || each.field !== field);
  };

/** The change, the reason of its rejection, and its field. */
const REFUSED: readonly [what: string, edit: Edit, reason: RegExp, field?: string][] = [
  [
    'a type that rewrites the table',
    (snapshot) =>
      Object.assign(fieldOf(snapshot, 'items', 'code'), {
        type: 'bigInteger',
        schema: { ...fieldOf(snapshot, 'items', 'code').schema, data_type: 'bigint' },
      }),
    /PostgreSQL rewrites the whole table/,
    'code',
  ],
  [
    'an exclusion constraint',
    extras('items', { constraints: [{ name: 'alone', definition: 'EXCLUDE USING btree (code WITH =)' }] }),
    /cannot do that before/,
  ],
  [
    'an index of a partitioned table',
    both(
      ...['parts', 'part'].map((name) =>
        extras(name, { indexes: [{ name: `${name}_note`, definition: 'USING btree (note)' }] }),
      ),
    ),
    /no CREATE INDEX CONCURRENTLY for a partitioned table/,
  ],
  [
    'the values of a field of a table that inherits from another',
    without('heir', 'note'),
    /statements on other tables/,
    'note',
  ],
  [
    'the values of a field of a table whose policies hold for its owner',
    without('policed', 'note'),
    /row-level security applies to the owner/,
    'note',
  ],
  [
    'a column that is renamed at once',
    renamedField('note', 'remark', { is_nullable: false }),
    /renames or alters the column/,
    'remark',
  ],
  [
    'a column that is altered at once',
    edited('items', 'note', { max_length: 300, is_unique: true }),
    /creates, renames or alters the column "note"/,
    'note',
  ],
  [
    'a table that the same change renames',
    both(edited('items', 'code', { is_unique: true }), (snapshot) => renameItems(snapshot)),
    /the same change renames the table/,
    'code',
  ],
  [
    'a referenced table that the same change creates',
    (snapshot) => {
      const [owners, id] = [
        snapshot.collections.find(({ collection }) => collection === 'owners'),
        fieldOf(snapshot, 'owners', 'id'),
      ];
      snapshot.collections.push(JSON.parse(JSON.stringify(owners).replaceAll('owners', 'makers')) as never);
      snapshot.fields.push(JSON.parse(JSON.stringify(id).replaceAll('owners', 'makers')) as never);
      snapshot.relations.push({ collection: 'items', field: 'owner', related_collection: 'makers', schema: {} });
    },
    /the same change creates the table "makers"/,
    'owner',
  ],
];

function renameItems(snapshot: Snapshot): void {
  const named = JSON.parse(JSON.stringify(snapshot).replaceAll('"items"', '"things"')) as Snapshot;
  for (const each of named.collections)
    if (each.collection === 'things') Object.assign(each, { renamed_from: 'items' });
  Object.assign(snapshot, named);
}

describe('an online change without preparation', () => {
  const { api, client } = withService({ consistent: true, settings: { KEEP_COPY_ROWS: '5' } });
  let online: Online;

  before(async () => {
    online = onlineOf(api);
    await api.ok('POST', '/collections', { collection: 'owners', schema: {}, fields: [] });
    await online.large('items', FIELDS, `code = i; owner = 1; note = 'n' || i`);
    await api.sql(`INSERT INTO owners SELECT FROM generate_series(1, 3)`);
    await api.sql(`
      CREATE TABLE parts (id integer PRIMARY KEY, note text, wide text) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (1000000) WITH (fillfactor = 10);
      CREATE TABLE heir (id integer PRIMARY KEY, note text, wide text);
      CREATE TABLE ancestor (wide text);
      CREATE TABLE policed (id integer PRIMARY KEY, note text, wide text);
      INSERT INTO parts SELECT i, 'n', repeat('x', 300) FROM generate_series(1, 4000) i; ANALYZE parts, part`);
    await api.sql('CREATE TABLE keyless (note text, wide text)');
    await fill(api, 'keyless', `note = 'n'`);
    for (const name of ['heir', 'policed']) await fill(api, name, 'id = i');
    await api.ok('POST', '/schema/adopt', { tables: ['parts', 'part', 'heir', 'policed', 'keyless'] });
    await api.sql('ALTER TABLE policed FORCE ROW LEVEL SECURITY; ALTER TABLE heir INHERIT ancestor');
  });

  for (const [what, edit, reason, field] of REFUSED)
    it(`is rejected with the reason: ${what}`, async () => {
      const diff = await online.diff(edit);
      const before = await api.head();
      const answer = await client('/schema/apply?online', json(diff));
      expect(answer.status, answer.text).to.equal(422);
      const { errors } = answer.json as { errors: { message: string; extensions: Record<string, unknown> }[] };
      const output = errors.map(({ message, extensions }) => [extensions['code'], extensions['field'], message]);
      expect(output[0]?.[0]).to.equal('ONLINE_NOT_POSSIBLE');
      expect(errors[0]?.message, answer.text)
        .to.match(reason)
        .and.to.match(/Send it without online, or remove it\.$/);
      expect(errors[0]?.extensions['reason']).to.match(reason);
      if (field !== undefined) expect(errors[0]?.extensions['field']).to.equal(field);
      expect(await api.head()).to.equal(before);
      expect(await online.leftBehind()).to.deep.equal([]);
      const planned = await client('/schema/apply?online&dry_run', json(diff));
      expect([planned.status, planned.text.includes('ONLINE_NOT_POSSIBLE')]).to.deep.equal([422, true]);
    });

  /** Changes without preparation, and their response. */
  const AT_ONCE: readonly [what: string, method: string, path: string, body: object | undefined, status: number][] = [
    ['a note', 'PATCH', '/fields/items/code', { meta: { note: 'n' } }, 200],
    ['a default', 'PATCH', '/fields/items/code', { schema: { default_value: 4 } }, 200],
    ['a longer type', 'PATCH', '/fields/items/note', { schema: { max_length: 400 } }, 200],
    ['a new field', 'POST', '/fields/items', column('fresh'), 200],
    ['a purged field', 'DELETE', '/fields/items/spare?purge', undefined, 204],
    [
      'a field whose values the trash cannot keep, without a primary key',
      'DELETE',
      '/fields/keyless/note',
      undefined,
      204,
    ],
    ['a small table', 'PATCH', '/fields/owners/id', { meta: { note: 'n' } }, 200],
    ['an alias', 'POST', '/fields/items', { field: 'divider', type: 'alias', meta: { interface: 'divider' } }, 200],
    [
      'a relation without a foreign key',
      'POST',
      '/relations',
      { collection: 'items', field: 'owner', related_collection: 'owners', schema: null },
      200,
    ],
    ['a table that is deleted', 'DELETE', '/collections/items', undefined, 204],
  ];

  for (const [what, method, path, body, status] of AT_ONCE)
    it(`is applied immediately, as without online: ${what}`, async () => {
      const answer = await client(
        `${path}${path.includes('?') ? '&' : '?'}online`,
        body === undefined ? { method } : json(body, method),
      );
      expect(answer.status, answer.text).to.equal(status);
      expect(await api.sql(`SELECT FROM service.service_changes`)).to.deep.equal([]);
    });
});
