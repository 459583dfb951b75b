import { expect } from 'chai';
import { type Difference, verify } from '../../../src/projector/verify/index.js';
import { column, created, relationCreated, tableOf } from '../columns.js';
import { type Projected, startProjected } from '../../support/projected.js';

describe('verification', () => {
  let projected: Projected;
  before(async () => {
    projected = await startProjected();
    await projected.project([
      created('authors'),
      created(
        't',
        [
          column('a', 'string', { default_value: 'x', is_unique: true, comment: 'note' }),
          column('n', 'integer', { is_indexed: true, is_nullable: false }),
          column('g', 'text', { generation_expression: `a||'!'` }),
          column('author', 'integer'),
          column('other', 'alias', null),
        ],
        { comment: 'table' },
      ),
      relationCreated('t.author', 'authors', { on_delete: 'CASCADE' }),
      {
        type: 'collection.created',
        version: 1,
        collection: 'folder',
        field: null,
        data: { collection: tableOf('folder', null), fields: [] },
      },
    ]);
  });
  after(() => projected.stop());

  /** Runs verify after a tampering, which is then undone. */
  async function verifyTampered(tampering: string): Promise<Difference[]> {
    await projected.client.query('BEGIN');
    await projected.client.query(tampering);
    const { ok, differences } = await verify(projected.client, projected.state(), projected.schema);
    await projected.client.query('ROLLBACK');
    expect(ok).to.equal(differences.length === 0);
    return differences;
  }

  const CATALOG: [string, Partial<Difference>][] = [
    ['DROP TABLE t', { member: 'table', expected: 'a table', found: null }],
    ['ALTER TABLE t RENAME TO renamed', { member: 'table', expected: 'a table', found: null }],
    ['ALTER TABLE t ADD COLUMN extra uuid', { field: 'extra', member: 'column', expected: null, found: 'uuid' }],
    [
      'ALTER TABLE t ALTER COLUMN n TYPE bigint',
      { field: 'n', member: 'schema.data_type', expected: 'integer', found: 'bigint' },
    ],
    [
      'ALTER TABLE t ALTER COLUMN n DROP NOT NULL',
      { field: 'n', member: 'schema.is_nullable', expected: false, found: true },
    ],
    [
      `ALTER TABLE t ALTER COLUMN a SET DEFAULT 'y'`,
      { field: 'a', member: 'schema.default_value', expected: 'x', found: 'y' },
    ],
    [
      `ALTER TABLE t ALTER COLUMN a SET DEFAULT lower('Y')`,
      { field: 'a', member: 'schema.default_value', expected: 'x', found: { sql: "lower('Y'::text)" } },
    ],
    [
      'ALTER TABLE authors ALTER COLUMN id SET GENERATED ALWAYS',
      { collection: 'authors', field: 'id', member: 'schema.has_auto_increment', expected: true, found: 'always' },
    ],
    [
      'ALTER TABLE t ALTER COLUMN g DROP EXPRESSION',
      { field: 'g', member: 'schema.generation_expression', expected: `a||'!'`, found: null },
    ],
    [
      `ALTER TABLE t DROP COLUMN g; ALTER TABLE t ADD COLUMN g text GENERATED ALWAYS AS (a || '?') STORED`,
      {
        field: 'g',
        member: 'schema.generation_expression',
        expected: `a||'!'`,
        found: "((a)::text || '?'::text) STORED",
      },
    ],
    [`COMMENT ON COLUMN t.a IS 'other'`, { field: 'a', member: 'schema.comment', expected: 'note', found: 'other' }],
    [`COMMENT ON TABLE t IS NULL`, { member: 'schema.comment', expected: 'table', found: null }],
    [
      'ALTER TABLE t DROP CONSTRAINT t_a_unique',
      { field: 'a', member: 'constraint t_a_unique', expected: { kind: 'unique', columns: ['a'] }, found: null },
    ],
    [
      'ALTER TABLE t DROP CONSTRAINT t_pkey',
      { field: 'id', member: 'constraint t_pkey', expected: { kind: 'primary key', columns: ['id'] }, found: null },
    ],
    [
      'DROP INDEX t_n_index',
      {
        field: 'n',
        member: 'index t_n_index',
        expected: { method: 'btree', unique: false, valid: true, columns: ['n'] },
        found: null,
      },
    ],
    [
      'CREATE INDEX by_hand ON t (lower(a))',
      {
        member: 'index by_hand',
        expected: null,
        found: {
          method: 'btree',
          unique: false,
          valid: true,
          columns: [null],
          definition: 'USING btree (lower((a)::text))',
        },
      },
    ],
    ['CREATE TABLE folder (id int)', { collection: 'folder', member: 'table', expected: null, found: 'a table' }],
  ];
  for (const [tampering, expected] of CATALOG) {
    it(`finds differences in the catalog: ${tampering}`, async () => {
      expect(await verifyTampered(tampering)).to.deep.equal([{ where: 'catalog', collection: 't', ...expected }]);
    });
  }

  it('finds a foreign key with a different action', async () => {
    const [difference, ...more] = await verifyTampered(`
      ALTER TABLE t DROP CONSTRAINT t_author_foreign;
      ALTER TABLE t ADD CONSTRAINT t_author_foreign FOREIGN KEY (author) REFERENCES authors (id) NOT VALID`);
    expect(more).to.deep.equal([]);
    expect(difference).to.include({ field: 'author', member: 'constraint t_author_foreign' });
    expect(difference?.expected).to.have.nested.property('references.onDelete', 'CASCADE');
    expect(difference?.found).to.have.nested.property('references.onDelete', 'NO ACTION');
    expect(difference?.found).to.include({ validated: false });
  });

  it('finds a check created by hand', async () => {
    const [difference] = await verifyTampered('ALTER TABLE t ADD CONSTRAINT positive CHECK (n > 0)');
    expect(difference).to.deep.include({
      member: 'constraint positive',
      expected: null,
      found: { kind: 'check', columns: ['n'], definition: 'CHECK ((n > 0))' },
    });
  });

  it('finds a dropped column with its dependents', async () => {
    const differences = await verifyTampered('ALTER TABLE t DROP COLUMN n');
    expect(differences.map(({ field, member }) => [field, member])).to.deep.equal([
      ['n', 'column'],
      ['n', 'index t_n_index'],
    ]);
  });

  it('ignores unmanaged tables', async () => {
    expect(await verifyTampered('CREATE TABLE unmanaged (id int)')).to.deep.equal([]);
  });

  const METADATA: [string, Partial<Difference>][] = [
    [
      `UPDATE service.service_collections SET meta = jsonb_set(meta, '{note}', '"x"') WHERE collection = 't'`,
      { member: 'meta.note', expected: null, found: 'x' },
    ],
    [
      `UPDATE service.service_fields SET type = 'text' WHERE collection = 't' AND field = 'a'`,
      { field: 'a', member: 'type', expected: 'string', found: 'text' },
    ],
    [
      `DELETE FROM service.service_fields WHERE collection = 't' AND field = 'n'`,
      { field: 'n', member: 'field', expected: 'a row', found: null },
    ],
    [
      `INSERT INTO service.service_collections VALUES ('phantom', '{}', NULL)`,
      { collection: 'phantom', member: 'collection', expected: null, found: 'a row' },
    ],
    [
      `UPDATE service.service_relations SET one_deselect_action = 'delete'`,
      { field: 'author', member: 'one_deselect_action', expected: 'nullify', found: 'delete' },
    ],
    [`DELETE FROM service.service_relations`, { field: 'author', member: 'relation', expected: 'a row', found: null }],
  ];
  for (const [tampering, expected] of METADATA) {
    it(`finds differences in the metadata rows: ${tampering}`, async () => {
      expect(await verifyTampered(tampering)).to.deep.equal([{ where: 'metadata', collection: 't', ...expected }]);
    });
  }

  it('finds differences in the metadata rows ordered by collection and field, then extra rows', async () => {
    const differences = await verifyTampered(`
      UPDATE service.service_fields SET type = 'unknown';
      UPDATE service.service_collections SET schema = '{"comment": "x"}' WHERE collection <> 'folder';
      INSERT INTO service.service_collections VALUES ('b', '{}', NULL);
      INSERT INTO service.service_fields VALUES ('t', 'b', 'text', '{}', NULL)`);
    const places = differences.map(({ collection, field, member }) => `${collection}.${field ?? ''} ${member}`);
    expect(places).to.deep.equal([
      'authors. schema.comment',
      'authors.id type',
      'b. collection',
      't. schema.comment',
      ...['a', 'author', 'g', 'id', 'n', 'other'].map((name) => `t.${name} type`),
      't.b field',
    ]);
  });

  it('leaves nothing behind, with or without a transaction', async () => {
    await projected.expectVerified();
    expect(projected.client.getTransactionStatus()).to.equal('I');
    await projected.client.query('BEGIN');
    await projected.expectVerified();
    expect(await projected.rows(`SELECT FROM pg_class WHERE relname LIKE 'dps%'`)).to.have.length(0);
    await projected.client.query('COMMIT');
  });

  it('finds a difference for an expression that PostgreSQL rejects, without failing', async () => {
    const differences = await verifyTampered(`
      ALTER TABLE t DROP COLUMN g; ALTER TABLE t ADD COLUMN g text GENERATED ALWAYS AS ('x') STORED;
      ALTER TABLE t DROP COLUMN a`);
    expect(differences.map(({ field, member }) => [field, member])).to.deep.include([
      'g',
      'schema.generation_expression',
    ]);
  });
});
