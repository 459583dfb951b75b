import { expect } from 'chai';
import { expectConsistent } from '../../support/consistent.js';
import { withService } from '../../support/with-service.js';

type Spell = (definition: string) => string;

/** Definitions as PostgreSQL prints them, with defaults. */
const IN_FULL = new Map([
  [
    'FOREIGN KEY (a) REFERENCES target(id) ON DELETE CASCADE',
    'FOREIGN KEY (a) REFERENCES target(id) MATCH SIMPLE ON UPDATE NO ACTION ON DELETE CASCADE',
  ],
  [
    'FOREIGN KEY (a) REFERENCES __proto__(id)',
    'FOREIGN KEY (a) REFERENCES __proto__(id) ON DELETE NO ACTION NOT DEFERRABLE INITIALLY IMMEDIATE',
  ],
  ['UNIQUE (a, b)', 'UNIQUE NULLS DISTINCT (a, b) NOT DEFERRABLE'],
]);

const each =
  (isMeant: (token: string) => boolean, change: Spell): Spell =>
  (definition) =>
    definition.replaceAll(/'[^']*'|"[^"]*"|[A-Za-z_]\w*/g, (token) => (isMeant(token) ? change(token) : token));
const isKeyWord = (token: string): boolean => /^[A-Z]+$/.test(token);
const isName = (token: string): boolean => /^(id|code|a|b|t|r|v|one|target|parts|__proto__)$/.test(token);

const POSTGRES: Spell = (definition) => definition;

/** Spellings that PostgreSQL's parser treats alike. */
const SPELLINGS: { [name: string]: Spell } = {
  "in PostgreSQL's own words": POSTGRES,
  'with key words in small letters': each(isKeyWord, (token) => token.toLowerCase()),
  'with names in quotes': each(isName, (token) => `"${token}"`),
  'with names in capitals': each(isName, (token) => token.toUpperCase()),
  'with other blanks': (definition) => definition.replaceAll(' ', '\n \t').replaceAll('(', '( ').replaceAll(')', ' )'),
  'with more parentheses': (definition) => definition.replaceAll(/\((\w+ [<>]+ [^()]*)\)/g, '((($1)))'),
  'with what goes without saying': (definition) => IN_FULL.get(definition) ?? definition,
};

const references = (name: string, table: string, definition: string) => ({ name, definition, references: table });

const CONSTRAINTS = [
  references('f1', 'target', 'FOREIGN KEY (a) REFERENCES target(id) ON DELETE CASCADE'),
  references('f2', '__proto__', 'FOREIGN KEY (a) REFERENCES __proto__(id)'),
  references(
    'f3',
    'one',
    'FOREIGN KEY (b) REFERENCES one(id) MATCH FULL ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED',
  ),
  references('f4', 'target', 'FOREIGN KEY (a) REFERENCES target(code) NOT VALID'),
  references('f5', 'target', 'FOREIGN KEY (a, b) REFERENCES target(id, code) ON DELETE SET NULL (b)'),
  { name: 'u1', definition: 'UNIQUE (a, b)' },
  { name: 'u2', definition: 'UNIQUE NULLS NOT DISTINCT (b, a)' },
  { name: 'u3', definition: 'UNIQUE (a, t) INCLUDE (b) DEFERRABLE' },
  { name: 'u4', definition: 'UNIQUE (b)' },
  { name: 'x1', definition: 'CHECK ((a > 1))' },
  { name: 'x2', definition: `CHECK (((t <> 'X'::text) AND (b IS NOT NULL)))` },
  { name: 'x3', definition: 'EXCLUDE USING gist (r WITH &&) WHERE ((a > 0))' },
];

const INDEXES = [
  { name: 'i1', definition: 'USING btree (a DESC, lower(t))' },
  { name: 'i2', definition: 'USING hash (t)' },
  { name: 'i3', unique: true, definition: 'USING btree (t text_pattern_ops) WHERE (a > 1)' },
  { name: 'i5', definition: 'USING btree (a)' },
  { name: 'i4', definition: `USING btree (b) INCLUDE (a) WITH (fillfactor='70')` },
];

const defined = <T extends { definition: string }>(all: readonly T[], spell: Spell): T[] =>
  all.map((one) => ({ ...one, definition: spell(one.definition) }));

/** @param other for objects that a partitioned table and its partition share */
function tables(spell: Spell, other: Spell): [name: string, extras: object, fields: { [name: string]: object }][] {
  const key = { type: 'integer', schema: { is_primary_key: true, is_nullable: false } };
  const integer = { type: 'integer', schema: {} };
  const positive = {
    kind: 'domain',
    name: 'positive',
    type: 'integer',
    default: spell('(1 + 1)'),
    checks: [{ name: 'is_positive', definition: spell('CHECK ((VALUE > 0))') }],
  };
  const inherited = references('p1', 'target', 'FOREIGN KEY (a) REFERENCES target(id) ON DELETE CASCADE');
  return [
    [
      'target',
      { constraints: defined([{ name: 'both', definition: 'UNIQUE (id, code)' }], spell) },
      {
        id: key,
        code: { type: 'integer', schema: { is_unique: true } },
      },
    ],
    ['__proto__', {}, { id: key }],
    [
      'one',
      { constraints: defined(CONSTRAINTS, spell), indexes: defined(INDEXES, spell), needs: [positive] },
      {
        id: key,
        a: integer,
        b: integer,
        t: { type: 'text', schema: { extras: { default: spell(`(upper('x'::text) || 'y'::text)`) } } },
        r: { type: 'unknown', schema: { data_type: 'int4range' } },
        v: { type: 'unknown', schema: { data_type: 'positive' } },
      },
    ],
    [
      'keyed',
      { primary_key: { name: 'pk', columns: ['id'], definition: spell('PRIMARY KEY (id) INCLUDE (v)') } },
      {
        id: key,
        v: integer,
      },
    ],
    ['parts', { partition_by: spell('RANGE (id)'), constraints: defined([inherited], spell) }, { id: key, a: integer }],
    [
      'part',
      {
        partition_of: { table: 'parts', bound: spell('FOR VALUES FROM (1) TO (10)') },
        constraints: defined([inherited], other),
      },
      { id: key, a: integer },
    ],
  ];
}

const HEAD = { version: 1, service: '', vendor: 'postgres' };

describe('SQL definitions', () => {
  let head = HEAD;

  const { service, api } = withService({ each: true });
  beforeEach(async () => {
    head = { ...HEAD, ...(await api.ok<{ service: string }>('GET', '/schema/snapshot')) };
  });

  function snapshot(spell: Spell, other: Spell = POSTGRES) {
    const all = tables(spell, other);
    return {
      ...head,
      collections: all.map(([collection, extras]) => ({ collection, schema: { extras } })),
      fields: all.flatMap(([collection, , fields]) =>
        Object.entries(fields).map(([field, rest]) => ({ collection, field, ...rest })),
      ),
      relations: [],
    };
  }
  const diff = (document: object) => api.ok<{ diff: object }>('POST', '/schema/diff', document);
  const apply = async (document: object) => api.ok('POST', '/schema/apply', await diff(document));
  const NOTHING = { collections: [], fields: [], relations: [] };

  async function expectUndisturbed(): Promise<void> {
    await expectConsistent(service.databaseUrl);
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true, tables: [] });
  }

  for (const [name, spell] of Object.entries(SPELLINGS)) {
    it(`${name} equal PostgreSQL's, and every other spelling changes nothing`, async () => {
      await apply(snapshot(spell));
      const constraints = await api.sql<{ name: string; definition: string }>(
        `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
          WHERE conrelid = 'one'::regclass AND contype IN ('f', 'u', 'c', 'x') ORDER BY conname COLLATE "C"`,
      );
      expect(constraints).to.deep.equal(CONSTRAINTS.map(({ name, definition }) => ({ name, definition })));
      await expectUndisturbed();
      for (const other of Object.values(SPELLINGS)) {
        expect((await diff(snapshot(other, spell))).diff).to.deep.equal(NOTHING);
      }
    });
  }

  it('are neither drift nor a change if the server recognizes them as equal', async () => {
    const rewritten = (text: string) => POSTGRES(text.replaceAll('::text', '').replace('target(id)', 'target'));
    await apply(snapshot(rewritten));
    await expectUndisturbed();
    expect((await diff(snapshot(rewritten))).diff).to.deep.equal(NOTHING);
  });

  it('are not drift for a default NULL, which PostgreSQL stores for domains only', async () => {
    const needs = [{ kind: 'domain', name: 'positive', type: 'integer', default: '1' }];
    const fields = ['integer', 'text', 'positive'].map((data_type) => ({
      field: `null_${data_type}`,
      type: data_type === 'positive' ? 'unknown' : data_type,
      schema: { data_type, extras: { default: 'NULL' } },
    }));
    await api.ok(
      'POST',
      '/schema/apply',
      await diff({
        ...head,
        collections: [{ collection: 'nulls', schema: { extras: { needs } } }],
        fields: fields.map((field) => ({ collection: 'nulls', ...field })),
        relations: [],
      }),
    );
    expect(await api.sql(`SELECT pg_get_expr(adbin, adrelid) AS text FROM pg_attrdef`)).to.deep.include({
      text: 'NULL::integer',
    });
    await expectUndisturbed();
    await api.sql('ALTER TABLE nulls ALTER null_positive DROP DEFAULT');
    const { tables: drifted } = await api.ok<{ tables: { differences: { field: string }[] }[] }>(
      'GET',
      '/schema/drift',
    );
    expect(drifted.flatMap(({ differences }) => differences.map(({ field }) => field))).to.deep.equal([
      'null_positive',
    ]);
  });

  it('are not drift if only their spelling differs', async () => {
    const spell = SPELLINGS['with names in quotes'] as Spell;
    await apply(snapshot(spell));
    await api.sql('ALTER TABLE one DROP CONSTRAINT f1; ALTER TABLE one ADD COLUMN more integer');
    await api.sql('ALTER TABLE keyed DROP CONSTRAINT pk; ALTER TABLE keyed ADD CONSTRAINT pk PRIMARY KEY (id)');
    interface Drift {
      tables: { differences: { repair: { database: { sql: string }[]; log: { type: string }[] } }[] }[];
    }
    const { tables: stillDrifted } = await api.ok<Drift>('GET', '/schema/drift');
    const statements = stillDrifted.flatMap(({ differences }) =>
      differences.flatMap(({ repair }) => repair.database.map(({ sql }) => sql)),
    );
    expect(statements, statements.join('\n')).length(4);
    await api.ok('POST', '/schema/drift/accept', {});
    const { collections } = await api.ok<{ collections: { collection: string; schema: object }[] }>(
      'GET',
      '/schema/snapshot',
    );
    const output = JSON.stringify(collections.find(({ collection }) => collection === 'one')?.schema);
    for (const { name, definition } of CONSTRAINTS) {
      if (name !== 'f1') expect(output).to.include(JSON.stringify(spell(definition)));
    }
    expect(output).not.to.include('"f1"');
    await expectUndisturbed();
  });
});
