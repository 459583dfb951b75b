/**
 * Writes a state as an SQL script for an empty server. The script contains the statements that the projector would run,
 * in the same order.
 */
import { planBatch } from '../../projector/ddl/plan.js';
import { type Sql, ident, join, sql, typeName } from '../../projector/ddl/sql.js';
import { nameOwnSchema, ownTable } from '../../postgres/own-tables.js';
import { hasForeignKey } from '../../projector/ddl/create-table.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../../schema/model/system-collections.js';
import { isRoutine } from '../../schema/model/objects.js';
import { objectsInOrder } from '../../schema/model/order.js';
import { type State, initialState, schemasOf } from '../../schema/model/state.js';
import type { Statement } from '../../projector/ddl/step.js';
import type { Resumable } from '../../kernel/resumable.js';
import { transition } from '../../schema/transition/transition.js';
import { bytes } from '../../kernel/bytes.js';
import type { Point } from '../../log/fold.js';

/** Types that PostgreSQL provides only with an extension. */
const EXTENSIONS: readonly { type: RegExp; extension: Sql }[] = [
  { type: /^citext\b/, extension: sql`citext` },
  { type: /^(?:public\.)?geo(?:metry|graphy)\b/, extension: sql`postgis` },
];

/**
 * The schema of the managed tables, and the schema of the service tables that they reference. The script creates them
 * if they are missing.
 */
export interface ScriptTarget {
  schema: string;
  serviceSchema: string;
}

/** Returns the SQL script as UTF-8. */
export function* scriptOf({ state, head }: Point, { schema, serviceSchema }: ScriptTarget): Resumable<Buffer> {
  const events = yield* transition(initialState(), state, state.collections.keys());
  const { statements } = yield* planBatch(initialState(), events, schema);
  const before = [
    `-- The schema at position ${head.position}${head.occurred_at === null ? '' : ` (${head.occurred_at})`}: tables, keys, indexes and comments, without data.`,
    '-- Folders, aliases and the metadata of fields exist in the service only.',
    '',
    'BEGIN;',
    "SET LOCAL client_encoding = 'UTF8';",
    `SET LOCAL search_path = ${schema === 'public' ? ident('public') : `${ident(schema)}, public`};`,
    // Like pg_dump, because a body may use objects that the script creates later.
    ...(objectsInOrder(state).some(isRoutine) ? ['SET LOCAL check_function_bodies = off;'] : []),
    ...createPreparations(state, schema).map((statement) => `${statement};`),
    ...systemTables(state, serviceSchema),
    '',
  ];
  return yield* bytes(linesOf(before, scriptLines(statements, serviceSchema), ['', 'COMMIT;']));
}

function* scriptLines(statements: readonly Statement[], serviceSchema: string) {
  for (const { sql: text } of statements) yield `${nameOwnSchema(text, serviceSchema)};`;
}

function* linesOf(before: readonly string[], statements: Iterable<string>, after: readonly string[]) {
  for (const line of before) yield `${line}\n`;
  for (const line of statements) yield `${line}\n`;
  for (const line of after) yield `${line}\n`;
}

function createPreparations(state: State, schema: string): Sql[] {
  const types = findUsedTypes(state);
  const extensions = EXTENSIONS.filter(({ type }) => types.some((each) => type.test(each)));
  return [
    ...schemasOf(state, schema).flatMap((each) =>
      each === 'public' ? [] : [sql`CREATE SCHEMA IF NOT EXISTS ${ident(each)}`],
    ),
    ...extensions.map(({ extension }) => sql`CREATE EXTENSION IF NOT EXISTS ${extension}`),
  ];
}

function findUsedTypes(state: State): string[] {
  const types = new Set<string>();
  for (const { fields } of state.collections.values()) {
    for (const { schema } of fields.values()) if (schema !== null) types.add(schema.data_type);
  }
  return [...types];
}

/** Creates the referenced tables outside the managed schema, with just enough columns for the foreign keys. */
function systemTables(state: State, serviceSchema: string): string[] {
  const named = new Set<string>();
  for (const { relations } of state.collections.values()) {
    for (const relation of relations.values()) if (hasForeignKey(relation)) named.add(relation.one_collection);
  }
  return [...REFERABLE_SYSTEM_COLLECTIONS].flatMap(([table, { field, data_type }]) => {
    if (!named.has(table)) return [];
    const column = join([ident(field), typeName(data_type)], sql` `);
    return [
      '',
      `-- The table of the service, reduced to its key: foreign keys below reference it.`,
      `CREATE SCHEMA IF NOT EXISTS ${ident(serviceSchema)};`,
      nameOwnSchema(`CREATE TABLE IF NOT EXISTS ${ownTable(table)} (${column} PRIMARY KEY);`, serviceSchema),
    ];
  });
}
