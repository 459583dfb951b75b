/** Explains missing types and row types of relations in other schemas. */
import type { Field } from '../../schema/model/model.js';
import type { Problem } from '../../kernel/problem.js';
import type { State } from '../../schema/model/state.js';
import type { LogEvent } from '../../schema/model/events.js';
import { type TypeFacts, type TypeLookup, type TypeUse, typeKey, typesUsed } from '../../schema/findings/model.js';
import { type Sql, join, literal, sql } from '../ddl/sql.js';

const UNDEFINED_OBJECT = '42704';

const POSTGIS = { name: 'PostGIS', extension: 'postgis' };

/** Extensions by data type. The type has no modifier. */
const EXTENSIONS = new Map([
  ['geometry', POSTGIS],
  ['geography', POSTGIS],
  ['citext', { name: 'citext', extension: 'citext' }],
]);

const extensionOf = (field: Field | undefined) => EXTENSIONS.get(field?.schema?.data_type.replace(/[([].*/, '') ?? '');

/** Rewords the problem if a missing extension or type is the cause; otherwise returns it unchanged. */
export function nameExtension(problem: Problem, after: State): Problem {
  if (problem.details?.['sqlstate'] !== UNDEFINED_OBJECT || problem.collection === undefined) return problem;
  const field = findCulprit(problem, after);
  const missing = extensionOf(field);
  if (field === undefined || missing === undefined) return nameType(problem);
  const { name, extension } = missing;
  const message =
    `field ${JSON.stringify(field.field)} of collection ${JSON.stringify(field.collection)} has a type of the extension ` +
    `${name}, which is not installed in this database. Ask a database administrator to run CREATE EXTENSION ${extension}`;
  return { ...problem, field: field.field, message, details: { ...problem.details, extension } };
}

const MISSING = /^(type|collation) "(.+)"(?: for encoding ".+")? does not exist$/;

/**
 * Names the missing type or collation. A change creates the enums and domains it needs. Composite types, ranges and
 * others must exist before.
 */
function nameType(problem: Problem): Problem {
  const [, kind, name] = MISSING.exec(String(problem.details?.['reason'])) ?? [];
  if (kind === undefined || name === undefined) return problem;
  const message = `${problem.message}. Create the ${kind} "${name}" in this database, then apply the change again (TYPE_NEEDED).`;
  return { ...problem, message, details: { ...problem.details, needed: [{ kind, name }] } };
}

/** Returns the field that caused the problem. A new table is one statement, so any of its fields can be the cause. */
function findCulprit({ collection = '', field }: Problem, { collections }: State): Field | undefined {
  const fields = collections.get(collection)?.fields;
  if (field !== undefined) return fields?.get(field);
  return [...(fields?.values() ?? [])].find((each) => extensionOf(each) !== undefined);
}

/** Returns the type uses that must be looked up before the statements run, each type once. */
export function typesToCheck(events: readonly LogEvent[], after: State): TypeUse[] {
  const uses = new Map<string, TypeUse>();
  for (const use of events.flatMap((event) => typesUsed(event, after))) {
    if (!uses.has(typeKey(use))) uses.set(typeKey(use), use);
  }
  return [...uses.values()];
}

interface TypeRow {
  kind: 'type' | 'collation';
  text: string;
  missing: boolean;
  relation: string | null;
}

/**
 * Returns rows of `TypeRow`: missing types, and types that are or contain the row type of a relation outside
 * `schema`. A column with such a type blocks every change to that relation, so it would block the service's own
 * migrations.
 */
export function typeQuestion(uses: readonly Pick<TypeUse, 'kind' | 'text'>[], schema: string): Sql {
  const rows = uses.map(({ kind, text }) => sql`(${literal(kind)}::text, ${literal(text)}::text)`);
  return sql`WITH RECURSIVE given (kind, text) AS (VALUES ${join(rows, sql`, `)}),
  parts (text, type) AS (
    SELECT g.text, pg_catalog.to_regtype(g.text)::oid FROM given g WHERE g.kind = 'type'::text
    UNION
    SELECT p.text, inner_types.type FROM parts p
    JOIN pg_catalog.pg_type t ON t.oid = p.type
    CROSS JOIN LATERAL (
      SELECT t.typelem AS type WHERE t.typcategory = 'A'::"char"
      UNION ALL SELECT t.typbasetype WHERE t.typtype = 'd'::"char"
      UNION ALL SELECT r.rngsubtype FROM pg_catalog.pg_range r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)
      UNION ALL SELECT a.atttypid FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = t.typrelid AND t.typrelid <> 0::oid AND a.attnum > 0 AND NOT a.attisdropped
    ) inner_types
  )
  SELECT g.kind, g.text,
    CASE g.kind WHEN 'type'::text THEN pg_catalog.to_regtype(g.text) IS NULL
      ELSE pg_catalog.to_regcollation(g.text) IS NULL END AS missing,
    (SELECT n.nspname::text || '.'::text || c.relname::text FROM parts p
      JOIN pg_catalog.pg_type t ON t.oid = p.type
      JOIN pg_catalog.pg_class c ON c.oid = t.typrelid AND c.relkind <> 'c'::"char"
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname <> ${literal(schema)}::name
      WHERE p.text = g.text AND g.kind = 'type'::text LIMIT 1) AS relation
  FROM given g`;
}

/** Converts the result of `typeQuestion`. */
export const typeLookup = (rows: readonly unknown[]): TypeLookup =>
  new Map(
    (rows as readonly TypeRow[]).flatMap((row): [string, TypeFacts][] =>
      row.missing || row.relation !== null ? [[typeKey(row), { isMissing: row.missing, relation: row.relation }]] : [],
    ),
  );

/** Returns a problem for each use of a row type that no column may have. */
export function rowTypeProblems(uses: readonly TypeUse[], lookup: TypeLookup): Problem[] {
  return uses.flatMap((use): Problem[] => {
    const relation = lookup.get(typeKey(use))?.relation ?? null;
    if (relation === null) return [];
    const { collection, field, text } = use;
    const whose =
      field === undefined ? `a domain of collection "${collection}"` : `field "${field}" of collection "${collection}"`;
    const message = `${whose} cannot have the type "${text}": it contains the row type of "${relation}", which is a relation of another schema. Create a composite type and use that.`;
    return [{ code: 'INVALID_PAYLOAD', message, collection, ...(field !== undefined && { field }) }];
  });
}
