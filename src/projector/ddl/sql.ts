/**
 * The one place where SQL text is made. A `Sql` is text that is safe to run: quoted names, quoted literals, checked
 * types and expressions, and the fixed words of templates. Nothing else may cast to `Sql` (a test reads the sources).
 */
import { textFault } from '../../kernel/text.js';
import { checkExpression, checkTypeText } from '../../schema/sql-text/expression.js';
import { fits } from '../../schema/model/name-length.js';
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
  own as ownTables,
  ownTable,
  trashSchema,
  trashSchemaNameSql,
} from '../../postgres/own-tables.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../../schema/model/system-collections.js';

declare const brand: unique symbol;

/** SQL text made by this module. */
export type Sql = string & { readonly [brand]: 'sql' };

/** Text that can't become SQL although it should have been refused long before: our bug, not the caller's input. */
export class UnsafeSqlError extends Error {
  constructor(what: string, text: string) {
    super(`${what}: ${JSON.stringify(text)}`);
    this.name = 'UnsafeSqlError';
  }
}

const PLAIN = /^[A-Za-z0-9_]{1,63}$/;

/** The schema that holds what the deletion at a position left in the trash: also where a schema's name is asked for. */
export const trash = (position: number): Sql => trashSchema(position) as Sql;

const TRASH = new RegExp(`^${TRASH_MARKS.source}$`);

/** A quoted identifier. Throws on what PostgreSQL would refuse or cut off. */
export function ident(name: string): Sql {
  // Quoted when it is sent.
  if (TRASH.test(name)) return name as Sql;
  // Always quoted: the list of words that would need it grows with PostgreSQL's releases.
  if (PLAIN.test(name)) return `"${name}"` as Sql;
  if (name === '') throw new UnsafeSqlError('an identifier is empty', name);
  if (textFault(name) !== null) throw new UnsafeSqlError('an identifier is not UTF-8 text', name);
  if (!fits(name)) throw new UnsafeSqlError('an identifier is longer than 63 bytes', name);
  return `"${name.replaceAll('"', '""')}"` as Sql;
}

/** `"schema"."name"` */
export function qualified(schema: string, name: string): Sql {
  return `${ident(schema)}.${ident(name)}` as Sql;
}

/** The service's own tables, for templates. */
export const own = ownTables as Readonly<Record<keyof typeof ownTables, Sql>>;

/** The schema that they are in, as an expression. */
export const ownSchemaOid = OWN_SCHEMA_OID as Sql;

/** What a schema of the trash is called, as an expression for a catalog query. @param position an expression too */
export const trashSchemaName = (position: Sql): Sql => trashSchemaNameSql(position) as Sql;

/** The table that a relation points at: in the managed schema, or one of the service's own. */
export function targetTable(schema: string, collection: string): Sql {
  return REFERABLE_SYSTEM_COLLECTIONS.has(collection) ? (ownTable(collection) as Sql) : qualified(schema, collection);
}

/**
 * The name of something that is made for a moment, to see what PostgreSQL makes of it: in the session's own schema, where
 * no other object can be called so, and which every search looks through last. The caller drops it.
 */
export const scratch = (name: string): Sql => qualified('pg_temp', name);

/**
 * A string literal. The E'' form, and only it, gives a backslash one meaning whatever standard_conforming_strings is;
 * without a backslash both forms mean the same.
 */
export function literal(text: string): Sql {
  // The schemas of the service have no quote and no backslash in their names.
  if (textFault(text.replaceAll(TRASH_MARKS, '')) !== null)
    throw new UnsafeSqlError('a literal is not UTF-8 text', text);
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return (quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted) as Sql;
}

/** SQL as JSON, which can't hold the mark of our own schema; and back. Only for what is kept in our own tables. */
export const storedSql = (text: Sql): string[] => text.split(ownTable(''));
/** What `storedSql` made, and nothing else: it isn't parsed again. */
export const fromStoredSql = (parts: readonly string[]): Sql => parts.join(ownTable('')) as Sql;

/** A block of statements, as DO takes it. */
export function block(body: Sql): Sql {
  return `E'${body.replaceAll(/['\\]/g, (found) => found + found)}'` as Sql;
}

/** The name of a type, as format_type writes it. Throws on anything a parser doesn't take as exactly one type. */
export function typeName(text: string): Sql {
  if (checkTypeText(text) !== null) throw new UnsafeSqlError('not the name of a type', text);
  return text as Sql;
}

/**
 * One scalar expression of a user's, in parentheses. Parsed again here: nothing upstream is taken on trust. The check
 * refuses comments, which could otherwise swallow the closing parenthesis.
 */
export function expression(text: string): Sql {
  const problem = checkExpression(text);
  if (problem !== null) throw new UnsafeSqlError(`not one scalar expression (${problem})`, text);
  return `(${text})` as Sql;
}

type TextCheck = (text: string) => string | null;

/** Text that PostgreSQL wrote (pg_get_*def), parsed again for what it is to be. */
function checked(what: string, check: TextCheck): (text: string) => Sql {
  return (text) => {
    const problem = check(text);
    if (problem !== null) throw new UnsafeSqlError(`not ${what} (${problem})`, text);
    return text as Sql;
  };
}

/** What follows `ADD CONSTRAINT c`: `CHECK ((a > 1))`. */
export const constraintDefinition = checked('the definition of a constraint', (text) => {
  const parsed = parseConstraint(text);
  return typeof parsed === 'string' ? parsed : null;
});

/** What follows `CREATE INDEX i ON t`: `USING btree (lower(a))`. */
export const indexDefinition = checked('the definition of an index', checkIndexDefinition);

/** What follows `PARTITION BY`. */
export const partitionKey = checked('a partition key', checkPartitionKey);

/** What follows `ATTACH PARTITION p`. */
export const partitionBound = checked('the bounds of a partition', checkPartitionBound);

export const collationName = checked('the name of a collation', checkCollation);

/** An integer of up to 64 bits. */
export const integer = checked('an integer', (text) => (/^-?\d{1,19}$/.test(text) ? null : 'other characters'));

/** A template whose holes take only SQL: sql`ALTER TABLE ${table} DROP COLUMN ${column}`. */
export function sql(words: TemplateStringsArray, ...parts: Sql[]): Sql {
  let text = words[0] as string;
  for (let i = 0; i < parts.length; i += 1) text += parts[i] + (words[i + 1] as string);
  return text as Sql;
}

/** Empty text where there are no parts. */
export function join(parts: readonly Sql[], separator: Sql): Sql {
  return parts.join(separator) as Sql;
}
