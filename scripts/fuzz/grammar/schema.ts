/** /schema */
import { schemaState } from '../../../test/support/arbitraries.js';
import { snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import type { Body } from '../request.js';
import { fieldsOf, json, type SnapshotDoc } from '../world.js';
import { fieldChange, someField, tableExtras } from './columns.js';
import {
  collectionName,
  type Context,
  flag,
  maybe,
  newName,
  type Rules,
  someField as someKnownField,
} from './context.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

type Doc = Record<string, unknown>;

const EXPORTS = ['json', 'yaml', 'csv', 'csv_utf8', 'xml'];

/** The current schema with changes, or another schema. */
export function randomSnapshot(context: Context): SnapshotDoc {
  const { random, world, release } = context;
  if (random.chance(0.12)) return runToEnd(snapshotOf(random.sample(schemaState), release)) as unknown as SnapshotDoc;
  const document = structuredClone(world.snapshot);
  for (let edits = random.below(4); edits > 0; edits--) random.pick(EDITS)(context, document);
  return document;
}

type Edit = (context: Context, document: SnapshotDoc) => void;

const dropCollection: Edit = (context, document) => {
  const name = collectionName(context);
  document.collections = document.collections.filter(({ collection }) => collection !== name);
  document.fields = document.fields.filter(({ collection }) => collection !== name);
  document.relations = document.relations.filter(
    ({ many_collection, one_collection }) => many_collection !== name && one_collection !== name,
  );
};

const addCollection: Edit = (context, document) => {
  const collection = newName(context);
  if (document.collections.some((each) => each.collection === collection)) return;
  const fields = [
    { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
    someField(context),
  ];
  const extras = context.random.chance(0.5) && {
    extras: tableExtras(
      context,
      fields.map((each) => String(each['field'])),
    ),
  };
  document.collections.push({ collection, meta: {}, schema: { ...extras } });
  for (const field of fields) document.fields.push({ collection, ...field } as never);
};

const addField: Edit = (context, document) => {
  const collection = context.random.some(document.collections)?.collection;
  if (collection !== undefined) document.fields.push({ collection, ...someField(context) } as never);
};

const dropField: Edit = ({ random }, document) =>
  void document.fields.splice(random.below(document.fields.length || 1), 1);
const dropRelation: Edit = ({ random }, document) =>
  void document.relations.splice(random.below(document.relations.length || 1), 1);

const changeField: Edit = (context, document) => {
  const field = context.random.some(document.fields);
  if (field === undefined) return;
  const { type, meta, schema } = fieldChange(context, field.type) as { type?: string; meta?: Doc; schema?: Doc };
  if (type !== undefined) field.type = type;
  field.meta = { ...field.meta, ...meta };
  if (field.schema !== null && schema !== undefined) field.schema = { ...field.schema, ...schema };
};

const changeExtras: Edit = (context, document) => {
  const collection = context.random.some(document.collections.filter(({ schema }) => schema !== null));
  if (collection === undefined) return;
  const columns = fieldsOf(context.world, collection.collection).filter(({ schema }) => schema !== null);
  const extras = {
    ...(collection.schema?.['extras'] as Doc | undefined),
    ...tableExtras(
      context,
      columns.map((each) => each.field),
    ),
  };
  collection.schema = { ...collection.schema, extras };
};

/** Removes a member, whose value then stays unchanged. */
const trim: Edit = ({ random }, document) => {
  const part = random.pick(['collections', 'fields', 'relations'] as const);
  const item = random.some<object>(document[part]) as Doc | undefined;
  const member = random.some(Object.keys(item ?? {}).filter((name) => !['collection', 'field'].includes(name)));
  if (item !== undefined && member !== undefined) delete item[member];
};

const EDITS: readonly Edit[] = [
  dropCollection,
  addCollection,
  addCollection,
  addField,
  dropField,
  dropRelation,
  changeField,
  changeField,
  changeExtras,
  trim,
];

function bodyOf({ random }: Context, value: unknown): Body {
  const kinds = ['json', 'json', 'json', 'yaml', 'json file', 'yaml file'] as const;
  return { kind: random.pick(kinds), value };
}

function adopt(context: Context): Doc {
  const { random, world } = context;
  if (random.chance(0.2)) return { all: true };
  if (random.chance(0.1)) return { objects: [objectName(context)] };
  const names = [random.some(world.unmanaged), random.chance(0.2) ? random.some(world.unmanaged) : undefined];
  const tables = [...new Set(names.filter((name) => name !== undefined))];
  return { tables, ...(random.chance(0.1) && { objects: [objectName(context)] }) };
}

function columnSettings(context: Context): string {
  const { collection, field } = someKnownField(context);
  const setting = [
    'SET STATISTICS 9',
    'SET STORAGE MAIN',
    'SET COMPRESSION pglz',
    'SET (n_distinct = 5)',
    'SET (a = 1)',
  ];
  return `ALTER TABLE "${collection}" ALTER COLUMN "${field}" ${context.random.pick(setting)}`;
}

const newObject = (context: Context): object => ({
  ...(context.random.chance(0.1) && { enabled: context.random.pick(['origin', 'disabled', 'always', 'never']) }),
  kind: context.random.pick([
    'view',
    'view',
    'materialized_view',
    'function',
    'function',
    'procedure',
    'aggregate',
    'aggregate',
    'trigger',
    'trigger',
    'policy',
    'policy',
    'row_security',
    'statistics',
    'rule',
    'rule',
    'privileges',
    'privileges',
    'table_options',
    'sequence',
    'type',
    'type',
    'table',
  ]),
  ...(context.random.chance(0.1) && {
    id: context.random.pick([
      `pg_monitor on "${collectionName(context)}"`,
      'pg_monitor on f(integer)',
      'pg_monitor on sequence q',
      'public on type m',
      'pg_monitor on schema public',
      'public on schema public',
      'pg_monitor on new tables',
      'public on new functions',
      'public on f(integer)',
      'public on g(integer)',
    ]),
  }),
  definition: context.random.pick([
    `CREATE VIEW v AS SELECT 1 AS one`,
    `CREATE VIEW v AS SELECT count(*) AS rows FROM "${collectionName(context)}"`,
    `CREATE MATERIALIZED VIEW "${newName(context)}" AS SELECT 1 AS one`,
    `CREATE FUNCTION f(a integer) RETURNS integer LANGUAGE sql AS 'SELECT ${context.random.below(9)}'`,
    `CREATE OR REPLACE FUNCTION f(${context.random.pick(['a', 'b'])} int4) RETURNS ${context.random.pick(['integer', 'bigint'])} RETURN 1`,
    `CREATE FUNCTION "${newName(context)}"("${collectionName(context)}") RETURNS integer SECURITY DEFINER LANGUAGE sql AS ''`,
    `CREATE FUNCTION f() RETURNS bigint BEGIN ATOMIC SELECT count(*) FROM "${collectionName(context)}"; END`,
    'CREATE VIEW v AS SELECT f(1) AS one',
    `CREATE AGGREGATE g(integer) (SFUNC = ${context.random.pick(['f', 'int4pl', 'g'])}, STYPE = integer, INITCOND = '${context.random.below(9)}')`,
    `CREATE AGGREGATE "${newName(context)}"(${context.random.pick(['*', 'integer ORDER BY text', 'VARIADIC "any"', `"${collectionName(context)}"`])}) (STYPE = ${context.random.pick(['integer', 'anyarray', 'internal'])}, SFUNC = f, SORTOP = <)`,
    'CREATE AGGREGATE g (BASETYPE = integer, SFUNC = int4pl, STYPE = integer)',
    'CREATE VIEW v AS SELECT g(1) AS one',
    'CREATE PROCEDURE p(INOUT a text) LANGUAGE plpgsql AS $$ BEGIN a := 1; END $$',
    'CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    `CREATE TRIGGER t BEFORE INSERT ON "${collectionName(context)}" FOR EACH ROW EXECUTE FUNCTION t()`,
    `CREATE CONSTRAINT TRIGGER "${newName(context)}" AFTER UPDATE OF id ON "${collectionName(context)}" FOR EACH ROW EXECUTE FUNCTION t()`,
    'CREATE TRIGGER t INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION t()',
    'CREATE TRIGGER t AFTER INSERT ON service.service_events EXECUTE FUNCTION t()',
    `CREATE POLICY p ON "${collectionName(context)}" USING (${context.random.pick(['true', 'id > 1', 'f(1) = 1'])})`,
    `CREATE POLICY "${newName(context)}" ON "${collectionName(context)}" AS RESTRICTIVE FOR SELECT TO ${context.random.pick(['pg_monitor', 'nobody', 'CURRENT_USER'])} USING (EXISTS (SELECT 1 FROM "${collectionName(context)}"))`,
    `ALTER TABLE "${collectionName(context)}" ${context.random.pick(['ENABLE', 'FORCE', 'DISABLE'])} ROW LEVEL SECURITY`,
    `ALTER TABLE "${collectionName(context)}" SET (${context.random.pick(['fillfactor = 70', 'toast.autovacuum_enabled = off', 'a', 'parallel_workers = 1, fillfactor = 1'])})`,
    `ALTER TABLE "${collectionName(context)}" ${context.random.pick(['SET UNLOGGED', 'SET LOGGED', 'REPLICA IDENTITY FULL, SET (fillfactor = 50)', 'REPLICA IDENTITY USING INDEX a'])}`,
    columnSettings(context),
    `CREATE SEQUENCE q ${context.random.pick(['', 'START 5', 'AS integer MAXVALUE 9 CYCLE', 'INCREMENT BY -1', 'START 1 START 2', 'MAXVALUE 1e9', 'OWNED BY a.id'])}`,
    `CREATE SEQUENCE "${newName(context)}" CACHE ${context.random.below(3)}`,
    `CREATE VIEW v AS SELECT ${context.random.pick(["nextval('q')", 'last_value'])} FROM q`,
    `CREATE TYPE m AS ENUM (${context.random.pick(["'a', 'b'", "'b', 'a', 'c'", "'x', 'b'", "'a', 'a'", "''", ''])})`,
    `CREATE TYPE ${context.random.pick(['m', `"${newName(context)}"`, `"${collectionName(context)}"`])} AS (a integer, ${context.random.pick(['b text', 'b m', 'b m[]', 'a text', `b "${collectionName(context)}"`])})`,
    `CREATE DOMAIN m AS ${context.random.pick(['text', 'm', 'numeric(3, 1)', 'varchar(5)[]'])} ${context.random.pick(['', 'NOT NULL', "DEFAULT 'a'", 'CHECK (VALUE > f(1))', 'CONSTRAINT c CHECK (VALUE IS NOT NULL) NOT VALID'])}`,
    `CREATE TYPE m AS RANGE (SUBTYPE = ${context.random.pick(['integer', 'm', 'text'])}${context.random.pick(['', ', CANONICAL = f', ', SUBTYPE_DIFF = float8mi'])})`,
    `CREATE VIEW v AS SELECT ${context.random.pick(["'a'::m", 'NULL::m[]', '(NULL::m).a'])} AS one`,
    `CREATE STATISTICS s (mcv) ON id, "${newName(context)}" FROM "${collectionName(context)}"`,
    `CREATE STATISTICS "${newName(context)}" ON ${context.random.pick(['id, (id % 2)', '(f(id))', 'id'])} FROM "${collectionName(context)}"`,
    `CREATE RULE r AS ON ${context.random.pick(['INSERT', 'DELETE', 'SELECT'])} TO "${collectionName(context)}" DO INSTEAD NOTHING`,
    `CREATE RULE "${newName(context)}" AS ON UPDATE TO "${collectionName(context)}" WHERE old.id > 1 DO ALSO INSERT INTO "${collectionName(context)}" (id) VALUES (${context.random.pick(['new.id', 'old.*', 'f(new.id)'])})`,
    `CREATE RULE r AS ON INSERT TO v DO INSTEAD (DELETE FROM "${collectionName(context)}"; NOTIFY v)`,
    'CREATE RULE r AS ON INSERT TO v DO ALSO DELETE FROM service.service_events',
    `GRANT ${context.random.pick(['SELECT', 'INSERT (id), UPDATE', 'ALL', 'MAINTAIN'])} ON "${collectionName(context)}" TO ${context.random.pick(['pg_monitor', 'PUBLIC', 'nobody', 'CURRENT_USER'])}`,
    `GRANT SELECT (id, "${newName(context)}") ON v TO pg_monitor ${context.random.pick(['', 'WITH GRANT OPTION'])}`,
    `GRANT ${context.random.pick(['EXECUTE', 'ALL', 'SELECT'])} ON ${context.random.pick(['FUNCTION', 'ROUTINE', 'PROCEDURE'])} ${context.random.pick(['f(int)', 'f()', 'g(integer)', 'p(text)', 'f'])} TO ${context.random.pick(['pg_monitor', 'PUBLIC', 'nobody'])} ${context.random.pick(['', 'WITH GRANT OPTION'])}`,
    `REVOKE ${context.random.pick(['EXECUTE', 'ALL', 'GRANT OPTION FOR EXECUTE'])} ON ${context.random.pick(['FUNCTION', 'ROUTINE'])} ${context.random.pick(['f(integer)', 'f()', 'g(integer)', 'pg_sleep(float8)'])} FROM ${context.random.pick(['PUBLIC', 'PUBLIC', 'pg_monitor'])}`,
    `${context.random.pick(['GRANT USAGE', 'GRANT CREATE, USAGE', 'GRANT SELECT'])} ON SCHEMA ${context.random.pick(['public', 'service', 'a'])} TO ${context.random.pick(['pg_monitor', 'PUBLIC', 'nobody'])}`,
    'REVOKE ALL ON SCHEMA public FROM PUBLIC',
    'ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO pg_monitor',
    'ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC',
    context.random.pick([
      [{ name: 'SELECT' }],
      [{ name: 'USAGE' }],
      [{ name: 'EXECUTE' }],
      [{ name: 'UPDATE', columns: ['id'], grantable: true }],
      [{ name: 'ALL' }],
      [],
    ]),
    'DROP TABLE a; SELECT 1',
    '$$',
  ]),
});

const objectName = ({ random }: Context): Doc => ({
  kind: random.pick([
    'view',
    'materialized_view',
    'function',
    'aggregate',
    'trigger',
    'policy',
    'row_security',
    'statistics',
    'rule',
    'privileges',
    'table_options',
    'sequence',
    'type',
    'table',
  ]),
  id: random.pick<unknown>([
    'v',
    'a b',
    'f(integer)',
    'g(integer)',
    't on v',
    'p on a',
    'r on v',
    'pg_monitor on a',
    'public on v',
    'public on f(integer)',
    'a',
    's',
    'q',
    'm',
    '',
    1,
  ]),
});

export const someObject = ({ random }: Context): string =>
  random.pick([
    '/objects/view/v',
    '/objects/function/f(integer)',
    '/objects/function/f()',
    '/objects/function/f(',
    '/objects/aggregate/g(integer)',
    '/objects/aggregate/g()',
    '/objects/trigger/t%20on%20v',
    '/objects/policy/p%20on%20a',
    '/objects/row_security/a',
    '/objects/table_options/a',
    '/objects/statistics/s',
    '/objects/sequence/q',
    '/objects/type/m',
    '/objects/type/a',
    '/objects/rule/r%20on%20v',
    '/objects/privileges/pg_monitor%20on%20v',
    '/objects/privileges/public%20on%20a',
    '/objects/privileges/public%20on%20f(integer)',
    '/objects/privileges/pg_monitor%20on%20g(integer)',
    '/objects/privileges/public%20on%20sequence%20q',
    '/objects/privileges/public%20on%20type%20m',
    '/objects/privileges/public%20on%20schema%20public',
  ]);

const OBJECTS: Rules = {
  'GET /objects': {
    weight: 0.2,
    make: (context) => ({
      path: '/objects',
      query: maybe(context.random, {
        kind: [0.3, () => context.random.pick(['view', 'function', 'table'])],
        schema: [0.2, () => context.random.pick(['public', 'billing', ''])],
        collection: [0.3, () => collectionName(context)],
      }),
    }),
  },
  'GET /objects/{kind}/{id}/dependents': {
    weight: 0.2,
    make: (context) => ({ path: `${someObject(context)}/dependents` }),
  },
  'POST /objects': { weight: 1, make: (context) => ({ path: '/objects', body: json(newObject(context)) }) },
  'GET /objects/{kind}/{id}': { weight: 0.1, make: (context) => ({ path: someObject(context) }) },
  'PATCH /objects/{kind}/{id}': {
    weight: 0.1,
    make: (context) => ({ path: someObject(context), body: json(newObject(context)) }),
  },
  'DELETE /objects/{kind}/{id}': { weight: 0.1, make: (context) => ({ path: someObject(context) }) },
  'POST /objects/{kind}/{id}/rename': {
    weight: 0.1,
    make: (context) => ({ path: `${someObject(context)}/rename`, body: json({ to: newName(context) }) }),
  },
};

export const SCHEMA: Rules = {
  ...OBJECTS,
  'GET /schema/snapshot': {
    weight: 3,
    make: (context) => ({
      path: '/schema/snapshot',
      query: maybe(context.random, {
        export: [0.5, () => context.random.pick(EXPORTS)],
        includeCollections: [0.15, () => collectionName(context)],
        excludeCollections: [0.15, () => collectionName(context)],
      }),
    }),
  },
  'POST /schema/diff': {
    weight: 14,
    make(context) {
      const { random } = context;
      const value = randomSnapshot(context);
      const query = maybe(random, {
        mode: [0.6, () => (random.chance(0.7) ? 'merge' : 'mirror')],
        force: [0.3, flag(random)],
      });
      return { path: '/schema/diff', query, body: bodyOf(context, random.chance(0.1) ? { data: value } : value) };
    },
  },
  'GET /schema/types': {
    weight: 1,
    make: ({ random }) => ({
      path: '/schema/types',
      query: maybe(random, {
        lang: [0.7, () => random.pick(['ts', 'zod', 'json-schema'])],
        at: [0.3, () => random.pick(['0', '3', 'now', '2020-01-01'])],
      }),
    }),
  },
  'POST /schema/merge': {
    weight: 6,
    make(context) {
      const { random } = context;
      const base = random.chance(0.8)
        ? random.pick([0, 1, 2, 5, 20, 'now', '2020-01-01', '3-00000000'])
        : randomSnapshot(context);
      const place = {
        part: random.pick(['collections', 'fields', 'relations']),
        collection: collectionName(context),
        field: 'title',
      };
      const value = {
        base,
        theirs: randomSnapshot(context),
        ...(random.chance(0.1) && { ours: random.pick([0, 3, 'now']) }),
        ...(random.chance(0.1) && { resolve: [{ place, take: random.pick(['ours', 'theirs']) }] }),
      };
      return {
        path: '/schema/merge',
        query: maybe(random, { force: [0.3, flag(random)] }),
        body: bodyOf(context, value),
      };
    },
  },
  'POST /schema/apply': {
    weight: 5,
    make({ random, world }) {
      const value = random.some(world.diffs) ?? { hash: 'x', diff: { collections: [], fields: [], relations: [] } };
      const item = random.chance(0.1) ? random.some((value as { diff: { fields: Doc[] } }).diff.fields) : undefined;
      if (item !== undefined)
        item['backfill'] = random.pick<unknown>([{ value: 1 }, { value: 'x' }, { field: 'id' }, 7]);
      return {
        path: '/schema/apply',
        query: maybe(random, {
          dry_run: [0.4, flag(random)],
          explain: [0.1, flag(random)],
          online: [0.1, flag(random)],
        }),
        body: json(value),
      };
    },
  },
  'GET /schema/drift': { weight: 1, make: () => ({ path: '/schema/drift' }) },
  'POST /schema/drift/accept': {
    weight: 1,
    make(context) {
      const { random } = context;
      const { collection, field } = someKnownField(context);
      const value = random.pick<Doc>([
        {},
        { collections: [collection] },
        { fields: [{ collection, field }] },
        { collections: [collection], objects: [objectName(context)] },
      ]);
      return {
        path: '/schema/drift/accept',
        query: maybe(random, { dry_run: [0.4, flag(random)] }),
        body: json(value),
      };
    },
  },
  'POST /schema/adopt': {
    weight: 2,
    make: (context) => ({
      path: '/schema/adopt',
      query: maybe(context.random, { dry_run: [0.4, flag(context.random)] }),
      body: json(adopt(context)),
    }),
  },
};
