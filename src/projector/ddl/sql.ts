/*
 * The only module that creates SQL text. A `Sql` is safe to run: quoted names and literals, checked types and
 * expressions, and the fixed words of templates. Nothing else may cast to `Sql` (a test checks the sources).
 */
import { textFault } from '../../kernel/text.js';
import { checkExpression, checkTypeText } from '../../schema/sql-text/expression.js';
import { fitsNameLimit } from '../../schema/model/name-length.js';
import { KINDS, type ObjectKind, type ObjectName } from '../../schema/model/objects.js';
import type { Definition } from '../../schema/model/object-document.js';
import { objectNameParts, splitQualifiedId, splitArgumentTypes } from '../../schema/model/object-ids.js';
import { type CollectionNode, type State, locateTable } from '../../schema/model/state.js';
import { createWords, parseDefinition, withNames } from '../../schema/sql-text/object-definition.js';
import { parseAttribute } from '../../schema/sql-text/types-and-sequences.js';
import { restoringFault } from '../../schema/sql-text/check-sql-text.js';
import {
  checkCollation,
  checkIndexDefinition,
  checkPartitionBound,
  checkPartitionKey,
  parseConstraint,
} from '../../schema/sql-text/definitions.js';
import {
  OWN_SCHEMA_OID,
  TRASH_MARKS,
  type TrashId,
  own as ownTables,
  ownTable,
  trashSchema,
  trashSchemaNameSql,
} from '../../postgres/own-tables.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../../schema/model/system-collections.js';

declare const brand: unique symbol;

export type Sql = string & { readonly [brand]: 'sql' };

/** Text that cannot become SQL although an earlier check should have rejected it: a bug, not bad input. */
export class UnsafeSqlError extends Error {
  constructor(what: string, text: string) {
    super(`${what}: ${JSON.stringify(text)}`);
    this.name = 'UnsafeSqlError';
  }
}

const PLAIN = /^[A-Za-z0-9_]{1,63}$/;

/** The name of a trash schema. It can be used wherever a schema name is expected. */
export const trash = (id: TrashId): Sql => trashSchema(id) as Sql;

/** The name of the schema that contains a deleted table. */
export const trashOf = ({ position, kept_in }: { position: number; kept_in?: number | undefined }): Sql =>
  trash(kept_in === undefined ? position : `s${kept_in}`);

const TRASH = new RegExp(`^${TRASH_MARKS.source}$`);

/** Quotes an identifier. Throws on names that PostgreSQL would reject or truncate. */
export function ident(name: string): Sql {
  // The name is quoted when it is sent.
  if (TRASH.test(name)) return name as Sql;
  // Always quoted: the list of reserved words grows with PostgreSQL's releases.
  if (PLAIN.test(name)) return `"${name}"` as Sql;
  if (name === '') throw new UnsafeSqlError('an identifier is empty', name);
  if (textFault(name) !== null) throw new UnsafeSqlError('an identifier is not UTF-8 text', name);
  if (!fitsNameLimit(name)) throw new UnsafeSqlError('an identifier is longer than 63 bytes', name);
  return `"${name.replaceAll('"', '""')}"` as Sql;
}

/** Returns `"schema"."name"`. */
export function qualified(schema: string, name: string): Sql {
  return `${ident(schema)}.${ident(name)}` as Sql;
}

/** The qualified table of a collection. @param schema the default schema */
export function tableOfNode({ collection }: Pick<CollectionNode, 'collection'>, schema: string): Sql {
  const { schema: table, collection: name } = collection;
  return qualified(table?.schema ?? schema, table?.name ?? name);
}

/** The qualified table of a collection of the state. @param schema the default schema */
export function tableIn(state: Pick<State, 'collections'>, collection: string, schema: string): Sql {
  const table = locateTable(state, collection, schema);
  return qualified(table.schema, table.name);
}

/** The service's own tables, for templates. */
export const own = ownTables as Readonly<Record<keyof typeof ownTables, Sql>>;

export const ownSchemaOid = OWN_SCHEMA_OID as Sql;

/**
 * The name of a trash schema, as an expression for a catalog query.
 * @param id also an expression
 */
export const trashSchemaName = (id: Sql): Sql => trashSchemaNameSql(id) as Sql;

/** The table that a relation references, in a managed schema or among the service's own tables. */
export function targetTable(state: Pick<State, 'collections'>, collection: string, schema: string): Sql {
  return REFERABLE_SYSTEM_COLLECTIONS.has(collection)
    ? (ownTable(collection) as Sql)
    : tableIn(state, collection, schema);
}

/**
 * The name of a temporary object, which shows how PostgreSQL spells its definition. It is in the session's own
 * schema, where no other object can have the name and which every search path looks up last. The caller drops it.
 */
export const scratch = (name: string): Sql => qualified('pg_temp', name);

/**
 * Quotes a string literal. Only the E'' form gives a backslash the same meaning under every
 * standard_conforming_strings. Without a backslash, both forms are equal.
 */
export function literal(text: string): Sql {
  // The names of the service's schemas contain no quote and no backslash.
  if (textFault(text.replaceAll(TRASH_MARKS, '')) !== null)
    throw new UnsafeSqlError('a literal is not UTF-8 text', text);
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return (quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted) as Sql;
}

/**
 * Converts SQL to JSON. JSON cannot contain the placeholder of the service's schema, so the text is split there. Only
 * for text stored in the service's own tables.
 */
export const storedSql = (text: Sql): string[] => text.split(ownTable(''));
/** Accepts only the output of `storedSql`: the text is not parsed again. */
export const fromStoredSql = (parts: readonly string[]): Sql => parts.join(ownTable('')) as Sql;

/** Quotes statements as the body of a DO block. */
export function block(body: Sql): Sql {
  return `E'${body.replaceAll(/['\\]/g, (character) => character + character)}'` as Sql;
}

/** A type name as format_type prints it. Throws unless the parser reads exactly one type. */
export function typeName(text: string): Sql {
  if (checkTypeText(text) !== null) throw new UnsafeSqlError('not the name of a type', text);
  return text as Sql;
}

/**
 * A scalar expression from a user, in parentheses. It is parsed again here, because this module trusts no earlier
 * check. The check rejects comments, which could hide the closing parenthesis.
 */
export function expression(text: string): Sql {
  const problem = checkExpression(text);
  if (problem !== null) throw new UnsafeSqlError(`not one scalar expression (${problem})`, text);
  return `(${text})` as Sql;
}

type TextCheck = (text: string) => string | null;

/** Accepts text from PostgreSQL (pg_get_*def) after parsing it again for its expected kind. */
function createChecked(what: string, check: TextCheck): (text: string) => Sql {
  return (text) => {
    const problem = check(text);
    if (problem !== null) throw new UnsafeSqlError(`not ${what} (${problem})`, text);
    return text as Sql;
  };
}

/** The text after `ADD CONSTRAINT c`: `CHECK ((a > 1))`. */
export const constraintDefinition = createChecked('the definition of a constraint', (text) => {
  const parsed = parseConstraint(text);
  return typeof parsed === 'string' ? parsed : null;
});

/** The text after `CREATE INDEX i ON t`: `USING btree (lower(a))`. */
export const indexDefinition = createChecked('the definition of an index', checkIndexDefinition);

/** The text after `PARTITION BY`. */
export const partitionKey = createChecked('a partition key', checkPartitionKey);

/** The text after `ATTACH PARTITION p`. */
export const partitionBound = createChecked('the bounds of a partition', checkPartitionBound);

export const collationName = createChecked('the name of a collation', checkCollation);

/**
 * Returns the text after the name of an object: ` (a, b) AS SELECT …`. The final line break ends a comment at the end
 * of the text.
 */
export function objectTail(definition: Definition): Sql {
  const parsed = parseDefinition(definition);
  if (typeof parsed === 'string')
    throw new UnsafeSqlError(`not the definition of an object (${parsed})`, JSON.stringify(definition));
  return `${parsed.tail}\n` as Sql;
}

/** Returns the definition without WITH [NO] DATA at its end. Null if the clause cannot be removed. */
export function withoutDataClause({
  kind,
  definition,
}: {
  kind: ObjectKind;
  definition: Definition;
}): Definition | null {
  if (kind !== 'materialized_view' || typeof definition !== 'string') return definition;
  const text = definition.replace(/\s+with\s+(?:no\s+)?data\s*;?\s*$/i, '');
  // The parser rejects a second clause.
  return typeof parseDefinition(`${text}\nWITH NO DATA`) === 'string' ? null : text;
}

/** Returns the words between CREATE and the name: `VIEW`, `DOMAIN`. */
export function creationWords(definition: Definition): Sql {
  const parsed = parseDefinition(definition);
  if (typeof parsed === 'string')
    throw new UnsafeSqlError(`not the definition of an object (${parsed})`, JSON.stringify(definition));
  return createWords(parsed.kind, null, parsed.type) as Sql;
}

/** The type and the collation of an attribute of a composite type. */
export const attributeType = createChecked('the type of an attribute', (text) =>
  parseAttribute(text) === null ? 'other text' : null,
);

/** Returns the statement that creates an object of a table. @param table qualified */
export function createOnTable(definition: Definition, name: Sql, table: Sql): Sql {
  const parsed = parseDefinition(definition);
  if (typeof parsed === 'string' || parsed.onTable === null)
    throw new UnsafeSqlError('not the definition of an object of a table', JSON.stringify(definition));
  return `${withNames(parsed, name, table)}\n` as Sql;
}

/**
 * Returns the tail for a scratch object, which the caller creates to read its definition back. Null if there is none.
 */
export function scratchTail(definition: Definition): Sql | null {
  const parsed = parseDefinition(definition);
  return typeof parsed === 'string' || parsed.scratchTail === null ? null : (`${parsed.scratchTail}\n` as Sql);
}

/** The name of a relation or a type with its schema. @param id as in `qualifiedId` */
export function relationSql(usual: string, id: string): Sql {
  const { schema = usual, name } = splitQualifiedId(id);
  return qualified(schema, name);
}

/**
 * The name of an object with its schema, with the argument types of a function, and with the table of a trigger or
 * policy.
 */
export function objectSql(schema: string, object: ObjectName): Sql {
  const { schema: place = schema, name, argumentTypes, table } = objectNameParts(object);
  if (table !== null) return sql`${ident(name)} ON ${relationSql(schema, table)}`;
  const own = qualified(place, name);
  if (argumentTypes === null) return own;
  const types = join(splitArgumentTypes(argumentTypes).map(typeName), sql`, `);
  return sql`${own}(${object.kind === 'aggregate' && argumentTypes === '' ? sql`*` : types})`;
}

/**
 * Returns a statement that gives a relation of this connection's role to another role. A relation of a third role stays.
 * @param relation qualified
 */
export function handOver(relation: Sql, owner: string): Sql {
  const body = sql`BEGIN IF (SELECT pg_catalog.pg_get_userbyid(c.relowner) FROM pg_catalog.pg_class c WHERE c.oid = ${literal(relation)}::regclass::oid) = current_user
    THEN ALTER TABLE ${relation} OWNER TO ${ident(owner)}; END IF; END`;
  return sql`DO ${block(body)}`;
}

/** A statement of the catalog that restores a property of an object that was dropped. */
export const restoringStatement = createChecked('a statement that restores a property', restoringFault);

/** The SQL keywords of a kind of object: `MATERIALIZED VIEW`. */
export const kindSql = (kind: ObjectKind): Sql => KINDS[kind].sqlWords as Sql;

/** An integer of up to 64 bits. */
export const integer = createChecked('an integer', (text) => (/^-?\d{1,19}$/.test(text) ? null : 'other characters'));

/** A template tag that accepts only SQL: sql`ALTER TABLE ${table} DROP COLUMN ${column}`. */
export function sql(words: TemplateStringsArray, ...parts: Sql[]): Sql {
  let text = words[0] as string;
  for (let i = 0; i < parts.length; i += 1) text += parts[i] + (words[i + 1] as string);
  return text as Sql;
}

/** Empty if there are no parts. */
export function join(parts: readonly Sql[], separator: Sql): Sql {
  return parts.join(separator) as Sql;
}

export function columnList(names: readonly string[]): Sql {
  return sql`(${join(names.map(ident), sql`, `)})`;
}

/*
 * PL/pgSQL that runs on all rows of a table. It lifts forced row security, optionally disables triggers and rules,
 * and restores all of them afterwards. The table is locked against all other sessions.
 */

interface AsOwnerOptions {
  /** Disables the triggers and rules of the table. */
  silently?: boolean;
}

/**
 * Returns a statement that runs `body`.
 * @param table qualified; in the body `kept` is its oid, and `counted` is a variable
 */
export function asOwner(table: Sql, body: Sql, { silently = false }: AsOwnerOptions = {}): Sql {
  const [quiet, loud] = silently ? [SILENCE, REVIVE] : [sql``, sql``];
  return sql`DO ${block(sql`DECLARE
    kept regclass := ${literal(table)}::regclass;
    forced boolean := (SELECT relforcerowsecurity FROM pg_catalog.pg_class WHERE oid = kept::oid);
    counted bigint; silence text[]; revival text[]; step text;
  BEGIN
    IF forced THEN ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY; END IF;${quiet}
    ${body}${loud}
    IF forced THEN ALTER TABLE ${table} FORCE ROW LEVEL SECURITY; END IF;
  END`)}`;
}

/** Handles each trigger and rule by name, so that its previous state (disabled, replica only) is restored. */
const SILENCE: Sql = sql`
    SELECT pg_catalog.array_agg(pg_catalog.format('ALTER TABLE %s DISABLE %s %I', kept, t.kind, t.name)),
           pg_catalog.array_agg(pg_catalog.format('ALTER TABLE %s ENABLE %s %s %I', kept,
             CASE t.enabled WHEN 'R' THEN 'REPLICA' WHEN 'A' THEN 'ALWAYS' ELSE '' END, t.kind, t.name))
      INTO silence, revival
      FROM (SELECT 'TRIGGER' AS kind, tgname AS name, tgenabled AS enabled
              FROM pg_catalog.pg_trigger WHERE tgrelid = kept::oid AND NOT tgisinternal
            UNION ALL SELECT 'RULE', rulename, ev_enabled FROM pg_catalog.pg_rewrite WHERE ev_class = kept::oid) t
     WHERE t.enabled <> 'D';
    FOREACH step IN ARRAY coalesce(silence, '{}') LOOP EXECUTE step; END LOOP;`;

const REVIVE: Sql = sql`
    FOREACH step IN ARRAY coalesce(revival, '{}') LOOP EXECUTE step; END LOOP;`;
