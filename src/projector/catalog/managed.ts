/**
 * Reads the catalog of several schemas. Each is queried like a single one, and the results are merged by collection.
 */
import { OperatorError } from '../../kernel/problem.js';
import { objectNameParts } from '../../schema/model/object-ids.js';
import { type State, byName, collectionAt, locationKey, schemasOf } from '../../schema/model/state.js';
import type { CatalogConstraint, CatalogTable } from './model.js';
import type { Reading } from './queries.js';

/** The managed schemas, and the state that names their tables. */
export interface ManagedTables {
  /** The default schema. */
  schema: string;
  /** All managed schemas. */
  schemas: readonly string[];
  state: State;
}

/**
 * Checks that the settings name every schema with tables or objects of the log.
 * @throws OperatorError
 */
export function requireManaged({
  schema,
  schemas,
  state,
}: Omit<ManagedTables, 'state'> & { state: Parameters<typeof schemasOf>[0] }): void {
  const missing = schemasOf(state, schema).find((each) => !schemas.includes(each));
  if (missing === undefined) return;
  const names = [...state.collections.values()].flatMap(({ collection }) => {
    const { schema: place, extras } = collection.schema ?? {};
    const needs = extras?.needs ?? [];
    const uses = needs.some((need) => need.kind !== 'extension' && need.schema === missing);
    return place === missing || uses ? [collection.collection] : [];
  });
  const objects = [...(state.objects?.values() ?? [])].flatMap(({ object }) =>
    objectNameParts(object).schema === missing ? [object.id] : [],
  );
  const [what, all] = names.length > 0 ? ['collections', names] : ['objects', objects];
  const some = all
    .sort(byName)
    .slice(0, 3)
    .map((name) => `"${name}"`);
  const more = all.length > some.length ? ` and ${all.length - some.length} more` : '';
  throw new OperatorError(
    `The schema "${missing}" is missing from DB_SCHEMAS, and the log has ${what} there: ${some.join(', ')}${more}. Add it to DB_SCHEMAS.`,
  );
}

/** Names the tables of the catalog. */
export interface TableLabels {
  /** Returns the schema as the state records it: undefined for the default schema. */
  schemaOf(schema: string): string | undefined;
  isManaged(schema: string | null): boolean;
  /** Returns the collection of a table, or the name of an unmanaged one. */
  label(schema: string, table: string): string;
  table(schema: string, table: CatalogTable): CatalogTable;
}

type Names = readonly string[] | undefined;

/**
 * Runs a reading for each managed schema.
 * @param read gets a function that translates names of collections to those of tables in the schema
 */
export function eachSchema<Part, T>(
  managed: ManagedTables,
  read: (schema: string, namesIn: (names: Names) => Names) => Reading<Part>,
  merge: (parts: readonly (readonly [schema: string, part: Part])[]) => T,
): Reading<T> {
  const readings = managed.schemas.map((schema) => [schema, read(schema, namesFor(managed, schema))] as const);
  return {
    queries: readings.flatMap(([, { queries }]) => queries),
    async make(rows) {
      const parts: [string, Part][] = [];
      for (const [schema, reading] of readings) parts.push([schema, await reading.make(rows)]);
      return merge(parts);
    },
  };
}

const namesFor =
  ({ schema: usual, state }: ManagedTables, schema: string) =>
  (names: Names): Names =>
    names?.flatMap((name) => {
      const table = state.collections.get(name)?.collection.schema;
      if (table) return (table.schema ?? usual) === schema ? [table.name ?? name] : [];
      // A name without a table in the state belongs to an unmanaged table or to a folder.
      if (schema === usual) return [name, ...withoutPrefix(name, schema)];
      return withoutPrefix(name, schema);
    });

const withoutPrefix = (name: string, schema: string): string[] =>
  name.startsWith(`${schema}.`) ? [name.slice(schema.length + 1)] : [];

/** @param parts the tables of each schema by their names in PostgreSQL */
export function labelsOf(
  { schema: usual, schemas, state }: ManagedTables,
  parts: readonly (readonly [string, { tables: ReadonlyMap<string, unknown> }])[] = [],
): TableLabels {
  const ownNames = new Set(parts.flatMap(([schema, { tables }]) => (schema === usual ? [...tables.keys()] : [])));
  const schemaOf = (schema: string) => (schema === usual ? undefined : schema);
  const label = (schema: string, table: string): string => {
    const collection = collectionAt(state, schemaOf(schema), table);
    if (collection !== undefined) return collection;
    const isElsewhere = state.collections.get(table)?.collection.schema?.schema !== undefined;
    if (schema === usual && !isElsewhere) return table;
    const qualified = `${schema}.${table}`;
    // Another table or collection has that name, so this one cannot get it.
    return state.collections.has(qualified) || ownNames.has(qualified) ? `"${schema}"."${table}"` : qualified;
  };
  const isManaged = (schema: string | null) => schema !== null && schemas.includes(schema);
  const named = <T extends { schema: string | null; table: string }>(target: T): T =>
    target.schema === null || !isManaged(target.schema)
      ? target
      : { ...target, schema: usual, table: label(target.schema, target.table) };
  const constraint = (each: CatalogConstraint): CatalogConstraint =>
    each.references === null ? each : { ...each, references: named(each.references) };
  return {
    schemaOf,
    isManaged,
    label,
    table: (schema, table) =>
      schemas.length === 1
        ? table
        : {
            ...table,
            name: label(schema, table.table),
            schema: schemaOf(schema),
            partitionOf: table.partitionOf && named(table.partitionOf),
            columns: table.columns.map((column) => ({
              ...column,
              sequence: column.sequence && {
                ...column.sequence,
                key: locationKey(schemaOf(column.sequence.schema), column.sequence.name),
              },
            })),
            constraints: table.constraints.map(constraint),
          },
  };
}
