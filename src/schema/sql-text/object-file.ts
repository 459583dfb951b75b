/*
 * Converts objects to SQL files and back. A file contains the definition, the indexes and the comment as statements that any
 * PostgreSQL client can run.
 */
import { parseSync } from 'libpg-query';
import { ENABLED, KINDS, type ObjectName, isOnTable, objectLabel } from '../model/objects.js';
import { type Enabled, type ObjectIndex, type SchemaObject, newObject } from '../model/object-document.js';
import { objectNameParts, idOnTable, qualifiedId, splitQualifiedId } from '../model/object-ids.js';
import { type Node, type Statement, list, member, stringOf } from './expression.js';
import { ONE_STATEMENT, parseDefinition } from './object-definition.js';
import { endOfName, quotedName, quotedQualified } from './quoted-name.js';
import { isAboutPrivileges, readGrants } from './privileges.js';
import { routineIdIn } from './routine.js';
import { grantTexts } from '../model/privileges.js';
import { nameChecks } from './types-and-sequences.js';
import { qualifiedName } from './view.js';

/** Returns the text of the file, with LF line ends. */
export function writeObjectFile(object: SchemaObject): string {
  const { kind, id, definition, comment, indexes = [], enabled = 'origin' } = object;
  if (typeof definition !== 'string')
    return grantTexts(object, quotedName)
      .map((text) => `${text};\n`)
      .join('');
  const statements = [
    definition.replaceAll('\r\n', '\n').replace(/[\s;]+$/, ''),
    ...indexes.map((index) => indexStatement(id, index)),
    ...(enabled === 'origin' ? [] : [enabledStatement(object, enabled)]),
    ...(comment === null ? [] : [`COMMENT ON ${KINDS[kind].sqlWords} ${sqlName({ kind, id })} IS ${literal(comment)}`]),
  ];
  return statements.map((text) => `${text}${endsInComment(text) ? '\n' : ''};\n`).join('');
}

const indexStatement = (id: string, { name, unique, definition }: ObjectIndex): string =>
  `CREATE ${unique === true ? 'UNIQUE ' : ''}INDEX ${quotedName(name)} ON ${quotedId(id)} ${definition}`;

/** Returns the name in SQL. @param id as in `qualifiedId` */
const quotedId = (id: string): string => quotedQualified(splitQualifiedId(id));

/** The words in ALTER TABLE for each value of `enabled`. */
const ENABLE = {
  origin: 'ENABLE',
  disabled: 'DISABLE',
  replica: 'ENABLE REPLICA',
  always: 'ENABLE ALWAYS',
} as const satisfies Record<Enabled, string>;

function enabledStatement(object: ObjectName, enabled: Enabled): string {
  const { name, table } = objectNameParts(object);
  return `ALTER TABLE ${quotedId(table ?? '')} ${ENABLE[enabled]} ${KINDS[object.kind].sqlWords} ${quotedName(name)}`;
}

/** `total(integer)`, `every(*)` or `audit ON posts`, with quotes where PostgreSQL needs them. */
function sqlName(object: ObjectName): string {
  const { schema, name, argumentTypes, table } = objectNameParts(object);
  if (table !== null) return `${quotedName(name)} ON ${quotedId(table)}`;
  const isEmpty = object.kind === 'aggregate' && argumentTypes === '';
  return quotedQualified({ schema, name }) + (argumentTypes === null ? '' : `(${isEmpty ? '*' : argumentTypes})`);
}

/** True if the last line contains a comment, in which a semicolon would not end the statement. */
const endsInComment = (text: string): boolean => text.slice(text.lastIndexOf('\n') + 1).includes('--');

/** Escapes line ends of Windows in a literal, because Git may convert those of a file. */
function literal(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return quoted.includes('\r')
    ? `E'${quoted.replaceAll('\\', '\\\\').replaceAll('\r', '\\r').replaceAll('\n', '\\n')}'`
    : `'${quoted}'`;
}

export interface ObjectFile {
  object: SchemaObject;
  /** The line of each part of the file, starting at 1. */
  lines: { definition: number; comment: number; indexes: number; enabled: number };
}

interface FileFault {
  /** A sentence about the file. */
  message: string;
  line: number;
}

/** A statement of the file with its text. */
interface FileStatement {
  node: unknown;
  text: string;
  line: number;
}

export function readObjectFile(text: string): ObjectFile | FileFault {
  const marker = /^<{7}(?: |$)/m.exec(text);
  if (marker !== null)
    return { message: 'the file contains a Git merge conflict. Resolve it first', line: lineAt(text, marker.index) };
  const statements = statementsIn(text);
  return Array.isArray(statements) ? readStatements(statements) : statements;
}

/** Reads a file of GRANT and REVOKE statements. */
function readPrivileges(statements: readonly FileStatement[], { line }: FileStatement): ObjectFile | FileFault {
  const grants = readGrants(statements.map(({ node }) => node));
  if (typeof grants === 'string') return { message: `the definition ${grants}`, line };
  const lines = { definition: line, comment: line, indexes: line, enabled: line };
  return { object: newObject({ kind: 'privileges', id: grants.id }, grants.privileges), lines };
}

function readStatements(statements: readonly FileStatement[]): ObjectFile | FileFault {
  const [first, ...others] = statements;
  if (first === undefined) return { message: `the definition ${ONE_STATEMENT}`, line: 1 };
  if (isAboutPrivileges(first.node)) return readPrivileges(statements, first);
  const definition = nameChecks(first.text);
  const parsed = parseDefinition(definition);
  if (typeof parsed === 'string') return { message: `the definition ${parsed}`, line: first.line };
  const { kind, id } = parsed;
  const file: ObjectFile = {
    object: newObject({ kind, id }, definition),
    lines: { definition: first.line, comment: first.line, indexes: first.line, enabled: first.line },
  };
  for (const statement of others) {
    const { node, line } = statement;
    const index = file.object.indexes === undefined ? undefined : member(node, 'IndexStmt');
    const altered = file.object.enabled === undefined ? undefined : member(node, 'AlterTableStmt');
    const message =
      altered !== undefined
        ? setEnabled(file, statement, altered)
        : index === undefined
          ? addComment(file, statement)
          : addIndex(file, statement, index);
    if (message !== null) return { message, line };
  }
  return file;
}

/** Returns why the statement cannot follow the definition, or null. */
function addIndex({ object, lines }: ObjectFile, statement: FileStatement, index: Node): string | null {
  const { indexes = [] } = object;
  const read = indexOf(statement, index, object.id);
  if (typeof read === 'string') return read;
  if (indexes.length === 0) lines.indexes = statement.line;
  indexes.push(read);
  return null;
}

const COMMANDS = { origin: 'Enable', disabled: 'Disable', replica: 'EnableReplica', always: 'EnableAlways' } as const;

/** Returns the state that a command of ALTER TABLE gives to an object of this kind. Undefined for other commands. */
const enabledBy = (kind: ObjectName['kind'], subtype: unknown): Enabled | undefined =>
  ENABLED.find((each) => subtype === `AT_${COMMANDS[each]}${kind === 'rule' ? 'Rule' : 'Trig'}`);

/** Returns why the statement cannot follow the definition, or null. */
function setEnabled({ object, lines }: ObjectFile, { line }: FileStatement, altered: Node): string | null {
  const { name, table } = objectNameParts(object);
  const [command, ...others] = list(altered['cmds']).map((each) => member(each, 'AlterTableCmd'));
  const enabled = enabledBy(object.kind, command?.['subtype']);
  if (enabled === undefined || others.length > 0)
    return `ALTER TABLE can only enable or disable the ${KINDS[object.kind].label} here, in a statement of its own`;
  if (command?.['name'] !== name || qualifiedId(qualifiedName(altered['relation'] as Node)) !== table)
    return `ALTER TABLE must name ${objectLabel(object)}`;
  object.enabled = enabled;
  lines.enabled = line;
  return null;
}

/** Returns why the statement cannot follow the definition, or null. */
function addComment({ object, lines }: ObjectFile, { node, line }: FileStatement): string | null {
  const { kind, id, indexes, enabled } = object;
  const comment = member(node, 'CommentStmt');
  const others = indexes !== undefined ? 'CREATE INDEX and ' : enabled !== undefined ? 'ALTER TABLE and ' : '';
  if (comment?.['objtype'] !== KINDS[kind].commentTarget)
    return KINDS[kind].commentTarget === null
      ? 'no other statement can follow the definition'
      : `only ${others}COMMENT ON ${KINDS[kind].sqlWords} can follow the definition`;
  if (commentedId(object, comment['object']) !== id) return `the comment must be on ${objectLabel(object)}`;
  object.comment = typeof comment['comment'] === 'string' ? comment['comment'] : null;
  lines.comment = line;
  return null;
}

/** Returns the id of the object in COMMENT ON. Undefined if no definition can have this id. */
function commentedId(object: ObjectName, commented: unknown): string | undefined {
  const type = member(commented, 'TypeName');
  if (type !== undefined) return idOfNames(list(type['names']));
  const routine = member(commented, 'ObjectWithArgs');
  if (routine === undefined) {
    const items = list(member(commented, 'List')?.['items']);
    const name = stringOf(items.at(-1));
    if (!isOnTable(object) || name === undefined) return idOfNames(items);
    return idOnTable(object.kind, name, idOfNames(items.slice(0, -1)) ?? '');
  }
  return routineIdIn(routine);
}

/** Returns the id of the list of a schema and a name, or of a name alone. */
function idOfNames(names: readonly unknown[]): string | undefined {
  const [name, schema] = names.map(stringOf).reverse();
  return name === undefined ? undefined : qualifiedId({ schema, name });
}

function indexOf({ text }: FileStatement, { idxname, relation, unique }: Node, view: string): ObjectIndex | string {
  const target = relation as Node;
  if (typeof idxname !== 'string') return 'an index must have a name';
  if (qualifiedId(qualifiedName(target)) !== view)
    return `the index ${JSON.stringify(idxname)} must be on ${JSON.stringify(view)}`;
  const at = endOfName(Buffer.from(text).toString('latin1'), { ...target, location: locationIn(text) });
  if (at === null) return 'the name of an index and of its view must be written without comments or U&';
  const definition = Buffer.from(text).toString('utf8', at).trim();
  return { name: idxname, definition, ...(unique === true && { unique: true as const }) };
}

/** Parses the statement alone, to find the location of the view in bytes. */
function locationIn(text: string): unknown {
  const [statement] = (parseSync(text) as { stmts?: Statement[] }).stmts ?? [];
  return (member(statement?.stmt, 'IndexStmt')?.['relation'] as Node | undefined)?.['location'];
}

function statementsIn(text: string): FileStatement[] | FileFault {
  // The parser rejects an empty text.
  if (text.trim() === '') return [];
  const bytes = Buffer.from(text);
  try {
    const { stmts = [] } = parseSync(text) as { stmts?: Statement[] };
    let start = 0;
    return stmts.map(({ stmt, stmt_location: location = 0, stmt_len: length }) => {
      const end = length === undefined ? bytes.length : location + length;
      // The location of a statement is after the comments that precede it, but these comments belong to the statement.
      const part = bytes.toString('utf8', start, end);
      const offset = bytes.toString('utf8', 0, start).length + part.length - part.trimStart().length;
      start = end + 1;
      return { node: stmt, text: part.trim(), line: lineAt(text, offset) };
    });
  } catch (error) {
    const { cursorPosition } = (error as { sqlDetails?: { cursorPosition?: number } }).sqlDetails ?? {};
    const message =
      error instanceof SyntaxError ? 'a quoted string or identifier is not terminated' : (error as Error).message;
    return { message: `the file is not valid SQL: ${message}`, line: lineAt(text, cursorPosition ?? 0) };
  }
}

/** Returns the line of an offset, starting at 1. */
const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
