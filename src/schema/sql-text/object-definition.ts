/*
 * Parses definitions of objects with PostgreSQL's parser. A definition is exactly one statement. The statement that runs
 * consists of words of the service, the quoted name, and the text after the name, so a definition cannot create anything
 * else.
 */
import { hash } from 'node:crypto';
import { parseSync } from 'libpg-query';
import { jsonEqual } from '../../kernel/json.js';
import { KINDS, OBJECT_KINDS, type ObjectKind, isFreeOnTable } from '../model/objects.js';
import type { Definition, SchemaObject } from '../model/object-document.js';
import {
  type QualifiedName,
  inSchema,
  objectNameParts,
  idOnTable,
  qualifiedId,
  routineId,
  splitQualifiedId,
} from '../model/object-ids.js';
import { type Node, type Statement, list, member, isTooLong, parserFault, parseStatements } from './expression.js';
import { endOfName, quotedName, quotedQualified, startOfName, targetNamed } from './quoted-name.js';
import { fingerprintOf } from './compare-and-rename.js';
import {
  aggregateRest,
  readAggregateParts,
  type RoutineParts,
  isReplaceable,
  readRoutineParts,
  routineRest,
} from './routine.js';
import {
  type PolicyParts,
  policyRest,
  readPolicyParts,
  readRowSecurity,
  type RuleParts,
  readRuleParts,
  ruleRest,
  type StatisticsParts,
  readStatisticsParts,
  readStatisticsNames,
  statisticsFault,
  statisticsRest,
  type TriggerParts,
  readTriggerParts,
  triggerFunction,
  triggerRelations,
  triggerRest,
} from './table-objects.js';
import type { SequenceOptions } from '../model/extras.js';
import { type TypeParts, isReplaceableType, readSequenceOptions, readTypeParts } from './types-and-sequences.js';
import { type TableOptions, optionsRest, readTableOptions } from './table-options.js';
import { callsIn, optionsOf, qualifiedName, queryFault, relationsIn, viewTailOf } from './view.js';

export interface ParsedDefinition {
  kind: ObjectKind;
  /** The schema. Undefined if the definition names none. For an object of a table, the schema of the table. */
  schema: string | undefined;
  name: string;
  /**
   * The name, with the schema if the definition names one. A function or aggregate also has its argument types, and a
   * trigger, policy or rule its table.
   */
  id: string;
  /** The text after the name, or after the table of the object, without a semicolon: `(a, b) WITH (…) AS SELECT …`. */
  tail: string;
  /**
   * The tail of a scratch object that PostgreSQL prints in the same way. For a materialized view, this is a plain view.
   * Null for a sequence, and if the parser cannot separate the column list and the query.
   */
  scratchTail: string | null;
  /** Equal for definitions with equal parse trees, regardless of their names. */
  fingerprint: string;
  /** The options of WITH (…) and of WITH CHECK OPTION, in one form. */
  options: string;
  /**
   * The access method, options and tablespace of a materialized view, in one form, or the table of a statistics object,
   * which is not in its id. Otherwise empty.
   */
  storage: string;
  /**
   * The relations that the definition names, including those in WITH and in argument types. Relations within the text
   * of a body are not included.
   */
  relations: readonly QualifiedName[];
  /** The functions that the definition calls, and the support functions of an aggregate. */
  calls: readonly QualifiedName[];
  /** The parts of a function, procedure or aggregate. Otherwise null. */
  routine: RoutineParts | null;
  /** The table of an object of a table. Otherwise null. */
  onTable: TableParts | null;
  /** The parts of a trigger. Otherwise null. */
  trigger: TriggerParts | null;
  /** The parts of a policy. Otherwise null. */
  policy: PolicyParts | null;
  /** The parts of a statistics object. Otherwise null. */
  statistics: StatisticsParts | null;
  /** The parts of a rule. Otherwise null. */
  rule: RuleParts | null;
  /** The options of a table. Otherwise null. */
  tableOptions: TableOptions | null;
  /** The options of a sequence that differ from PostgreSQL's defaults. Null for other objects. */
  sequence: SequenceOptions | null;
  /** The parts of a type. Null for other objects. */
  type: TypeParts | null;
}

interface TableParts extends QualifiedName {
  /** The text between the name of the object and the table: ` BEFORE INSERT OR UPDATE ON `. */
  between: string;
}

/** Characters of all definitions in the cache. A schema is compared and checked several times in one request. */
const CACHED = 4_000_000;
const parsed = new Map<string, ParsedDefinition | string>();
let cachedCharacters = 0;

/** Parses a definition in SQL, or returns a sentence that follows "must". */
export function parseDefinition(text: Definition): ParsedDefinition | string {
  if (typeof text !== 'string') return ONE_STATEMENT;
  const cached = parsed.get(text);
  if (cached !== undefined) return cached;
  const result = parseText(text);
  // Caching the result of such SQL would waste megabytes of memory.
  if (isTooLong(text)) return result;
  parsed.set(text, result);
  cachedCharacters += text.length;
  for (const oldest of parsed.keys()) {
    if (cachedCharacters <= CACHED) break;
    parsed.delete(oldest);
    cachedCharacters -= oldest.length;
  }
  return result;
}

/** Returns the labels of an enum. Undefined for other definitions. */
export function enumLabels(text: Definition): readonly string[] | undefined {
  const definition = parseDefinition(text);
  return typeof definition !== 'string' && definition.type?.form === 'enum' ? definition.type.labels : undefined;
}

/** Returns the parts of a definition that was accepted before. */
function readStoredDefinition(text: Definition): ParsedDefinition {
  const definition = parseDefinition(text);
  if (typeof definition === 'string') throw new Error(`a stored definition is invalid: it ${definition}`);
  return definition;
}

/**
 * True if CREATE OR REPLACE can change the first definition to the second, so that dependent objects remain. Privileges and
 * table options change one by one. ALTER SEQUENCE changes a sequence, and ALTER TYPE some parts of a type.
 */
export function canReplace(before: Definition, after: Definition): boolean {
  if (typeof before !== 'string') return true;
  const [old, now] = [parseDefinition(before), parseDefinition(after)];
  if (typeof old === 'string' || typeof now === 'string') return false;
  if (old.tableOptions !== null) return now.tableOptions !== null;
  if (old.sequence !== null) return now.sequence !== null;
  if (old.type !== null) return now.type !== null && isReplaceableType(old.type, now.type);
  return old.routine !== null && now.routine !== null && isReplaceable(old.routine, now.routine);
}

/** Returns the definition with another id. The rest of the text stays the same. */
export function renamedDefinition(text: Definition, id: string): Definition {
  if (typeof text !== 'string') return text;
  const parsed = readStoredDefinition(text);
  const { table } = objectNameParts({ kind: parsed.kind, id });
  return withIds(parsed, id, table);
}

/** Returns the definition in another schema. @param schema undefined for the default schema */
export function definitionInSchema(parsed: ParsedDefinition, schema: string | undefined): string {
  const { id } = inSchema(parsed, schema);
  const table = parsed.onTable === null ? null : qualifiedId({ ...parsed.onTable, schema });
  return withIds(parsed, id, table);
}

/** @param table as in `qualifiedId`. Null for the table of the definition, in the schema of a statistics object. */
function withIds(parsed: ParsedDefinition, id: string, table: string | null): string {
  const { kind, onTable } = parsed;
  const { schema, name } = objectNameParts({ kind, id });
  const own = isFreeOnTable({ kind }) || onTable === null ? quotedQualified({ schema, name }) : quotedName(name);
  const target = table === null ? onTable && { ...onTable, schema } : splitQualifiedId(table);
  return withNames(parsed, own, target === null ? '' : quotedQualified(target));
}

type DefinitionText = Pick<ParsedDefinition, 'kind' | 'tail' | 'onTable' | 'trigger' | 'type'>;

/** Returns the definition of an object of a table for a table with another name. @param table as in `qualifiedId` */
export const definitionOnTable = ({ id, definition }: SchemaObject, table: string): Definition =>
  typeof definition === 'string' ? withIds(readStoredDefinition(definition), id, table) : definition;

/** Returns the statement with other names, which must be quoted. @param table ignored for an object of no table */
export function withNames({ kind, tail, onTable, trigger, type }: DefinitionText, name: string, table: string): string {
  if (KINDS[kind].onTable === 'single') return `ALTER TABLE ${table}${tail}`;
  const target = onTable === null ? name : `${name}${onTable.between}${table}`;
  return `CREATE ${createWords(kind, trigger, type)} ${target}${tail}`;
}

/** Returns the words between CREATE and the name. */
export const createWords = (
  kind: ObjectKind,
  trigger: Pick<TriggerParts, 'isConstraint'> | null,
  type: Pick<TypeParts, 'form'> | null = null,
): string =>
  type?.form === 'domain' ? 'DOMAIN' : `${trigger?.isConstraint === true ? 'CONSTRAINT ' : ''}${KINDS[kind].sqlWords}`;

/** True if the parser reads the same statement from both strings, apart from white space, comments and the id. */
export function isSameDefinition(a: Definition, b: Definition): boolean {
  if (typeof a !== 'string' || typeof b !== 'string') return jsonEqual(a, b);
  if (a === b) return true;
  const [first, second] = [parseDefinition(a), parseDefinition(b)];
  if (typeof first === 'string' || typeof second === 'string') return false;
  return first.kind === second.kind && first.fingerprint === second.fingerprint && first.storage === second.storage;
}

function parseText(text: string): ParsedDefinition | string {
  const statements = parseStatements(text);
  if (typeof statements === 'string') return statements;
  const [only, ...others] = statements;
  if (only === undefined || others.length > 0) return ONE_STATEMENT;
  try {
    return fromStatement(Buffer.from(text), only);
  } catch (error) {
    return parserFault(error);
  }
}

/** Privileges are data. */
const PARSED = OBJECT_KINDS.filter((kind) => kind !== 'privileges');

const CREATE = [...PARSED.map((kind) => KINDS[kind].statement), 'CREATE DOMAIN'];
export const ONE_STATEMENT = `must be exactly one statement: ${CREATE.slice(0, -1).join(', ')} or ${CREATE.at(-1)}`;

interface Creation {
  kind: (typeof PARSED)[number];
  /** The node with the name: a RangeVar, or the same members for a function. */
  target: Node;
  /** The parsed query or body. */
  query: Node;
  /** The statement without its name and without words that do not change what is created. */
  rest: Node;
  routine?: RoutineParts;
  /** The support functions, if it creates an aggregate. */
  calls?: ParsedDefinition['calls'];
  /** The table that the object belongs to: a RangeVar. */
  relation?: Node;
  /** The schema before the name of an object of a table. */
  ownSchema?: string | undefined;
  /** The statement, if it creates a trigger. */
  trigger?: Node;
  policy?: PolicyParts;
  statistics?: StatisticsParts;
  rule?: RuleParts;
  tableOptions?: TableOptions;
  sequence?: SequenceOptions;
  type?: TypeParts;
}

/**
 * Returns the parts of the statement, or the reason why it is not accepted. Undefined if it creates another kind of
 * object.
 */
type ReadCreation = (statement: unknown, text: string) => Omit<Creation, 'kind'> | string | undefined;

const CREATIONS: Readonly<Record<(typeof PARSED)[number], ReadCreation>> = {
  view(statement) {
    const created = member(statement, 'ViewStmt');
    if (created === undefined) return undefined;
    const { view: target, query, replace: _, ...rest } = created;
    return { target: target as Node, query: query as Node, rest: { ...rest, query } };
  },
  materialized_view(statement) {
    const created = member(statement, 'CreateTableAsStmt');
    if (created?.['objtype'] !== 'OBJECT_MATVIEW') return undefined;
    if (created['if_not_exists'] === true) return 'must not contain IF NOT EXISTS';
    const { rel, skipData: _, ...into } = created['into'] as Node;
    const query = created['query'] as Node;
    return { target: rel as Node, query, rest: { into, query } };
  },
  function: (statement, text) => routineCreation(statement, text, { isProcedure: false }),
  procedure: (statement, text) => routineCreation(statement, text, { isProcedure: true }),
  aggregate(statement, text) {
    const created = member(statement, 'DefineStmt');
    if (created?.['kind'] !== 'OBJECT_AGGREGATE') return undefined;
    const parts = readAggregateParts(created);
    if (typeof parts === 'string') return parts;
    return { target: targetNamed(created['defnames'], text), query: {}, rest: aggregateRest(created), ...parts };
  },
  trigger(statement, text) {
    const created = member(statement, 'CreateTrigStmt');
    if (created === undefined) return undefined;
    const target = { ...(created['relation'] as Node), relname: created['trigname'], location: startOfName(text) };
    const relation = created['relation'] as Node;
    return { target, relation, query: { when: created['whenClause'] }, rest: triggerRest(created), trigger: created };
  },
  policy(statement, text) {
    const created = member(statement, 'CreatePolicyStmt');
    if (created === undefined) return undefined;
    const policy = readPolicyParts(created);
    if (typeof policy === 'string') return policy;
    const relation = created['table'] as Node;
    const target = { ...relation, relname: created['policy_name'], location: startOfName(text) };
    const query = { using: created['qual'], check: created['with_check'] };
    return { target, relation, query, rest: policyRest(created, policy), policy };
  },
  row_security(statement) {
    const altered = member(statement, 'AlterTableStmt');
    if (altered === undefined) return undefined;
    const switches = readRowSecurity(altered);
    if (switches === null) return undefined;
    const relation = altered['relation'] as Node;
    return { target: relation, relation, query: {}, rest: { switches } };
  },
  statistics(statement, text) {
    const created = member(statement, 'CreateStatsStmt');
    if (created === undefined) return undefined;
    const fault = statisticsFault(created);
    if (fault !== null) return fault;
    const { name, schema, relation } = readStatisticsNames(created);
    const target = {
      ...relation,
      relname: name,
      ...(schema !== undefined && { schemaname: schema }),
      location: startOfName(text),
    };
    const statistics = readStatisticsParts(created);
    const query = { exprs: created['exprs'] };
    return { target, relation, ownSchema: schema, query, rest: statisticsRest(created), statistics };
  },
  rule(statement, text) {
    const created = member(statement, 'RuleStmt');
    if (created === undefined) return undefined;
    const rule = readRuleParts(created);
    if (typeof rule === 'string') return rule;
    const relation = created['relation'] as Node;
    const target = { ...relation, relname: created['rulename'], location: startOfName(text) };
    const query = { when: created['whereClause'], actions: created['actions'] };
    return { target, relation, query, rest: ruleRest(created), rule };
  },
  table_options(statement) {
    const altered = member(statement, 'AlterTableStmt');
    if (altered === undefined) return undefined;
    const tableOptions = readTableOptions(altered);
    if (typeof tableOptions === 'string') return tableOptions;
    const relation = altered['relation'] as Node;
    return { target: relation, relation, query: {}, rest: optionsRest(tableOptions), tableOptions };
  },
  sequence(statement) {
    const created = member(statement, 'CreateSeqStmt');
    if (created === undefined) return undefined;
    const sequence = readSequenceOptions(created);
    if (typeof sequence === 'string') return sequence;
    return { target: created['sequence'] as Node, query: {}, rest: { sequence }, sequence };
  },
  type(statement, text) {
    const read = readTypeParts(statement, text);
    return typeof read === 'object' ? { ...read, query: read.rest } : read;
  },
};

function routineCreation(
  statement: unknown,
  text: string,
  { isProcedure }: { isProcedure: boolean },
): ReturnType<ReadCreation> {
  const created = member(statement, 'CreateFunctionStmt');
  if (created === undefined || (created['is_procedure'] === true) !== isProcedure) return undefined;
  const routine = readRoutineParts(created);
  if (typeof routine === 'string') return routine;
  const target = targetNamed(created['funcname'], text);
  const defaults = list(created['parameters']).map((each) => member(each, 'FunctionParameter')?.['defexpr']);
  return { target, query: { body: created['sql_body'], defaults }, rest: routineRest(created), routine };
}

function creationOf(statement: unknown, text: string): Creation | string {
  for (const kind of PARSED) {
    const creation = CREATIONS[kind](statement, text);
    if (creation !== undefined) return typeof creation === 'string' ? creation : { kind, ...creation };
  }
  return ONE_STATEMENT;
}

function fromStatement(
  bytes: Buffer,
  { stmt, stmt_location: start = 0, stmt_len: length }: Statement,
): ParsedDefinition | string {
  const end = length === undefined ? bytes.length : start + length;
  const text = bytes.toString('latin1', 0, end);
  const creation = creationOf(stmt, text);
  if (typeof creation === 'string') return creation;
  const fault = targetFault(creation.kind, creation.target) ?? queryFault(creation.query);
  if (fault !== null) return fault;
  if (creation.relation !== undefined) return partsOnTable(creation, creation.relation, { bytes, text, end });
  const at = endOfName(text, creation.target);
  const tail = at === null ? null : bytes.toString('utf8', at, end).trimEnd();
  return tail !== null && isTailOf(creation, tail) ? partsOf(creation, tail) : NAME_FAULT;
}

const NAME_FAULT = 'must write its name without comments or U&';

interface StatementText {
  bytes: Buffer;
  /** The text with one character per byte. */
  text: string;
  end: number;
}

/**
 * Splits the text before and after the table. The statement that the service will run is parsed again to check the
 * result.
 */
function partsOnTable(
  creation: Creation,
  relation: Node,
  { bytes, text, end }: StatementText,
): ParsedDefinition | string {
  const { kind, target, trigger, ownSchema: schemaname } = creation;
  const table = qualifiedName({ schemaname, ...relation });
  const isUnnamed = KINDS[kind].onTable === 'single';
  const afterName = isUnnamed ? 0 : endOfName(text, { location: target['location'], schemaname });
  const afterTable = endOfName(text, relation);
  if (afterName === null || afterTable === null) return NAME_FAULT;
  const between = isUnnamed ? '' : textBetween(bytes, afterName, Number(relation['location']));
  const tail = ` ${bytes.toString('utf8', afterTable, end).trim()}`.trimEnd();
  const parts: ParsedDefinition = {
    ...partsOf(creation, tail),
    storage: isFreeOnTable(creation) ? qualifiedId(table) : '',
    onTable: { ...table, between },
    trigger: trigger === undefined ? null : readTriggerParts(trigger),
  };
  if (!createsSame(creation, withNames(parts, 'n', 't'))) return NAME_FAULT;
  const relations = trigger === undefined ? [qualifiedName(relation), ...parts.relations] : triggerRelations(trigger);
  const calls = trigger === undefined ? parts.calls : [triggerFunction(trigger), ...parts.calls];
  return { ...parts, schema: table.schema, id: idOnTable(kind, parts.name, qualifiedId(table)), relations, calls };
}

const partsOfKind = (
  creation: Creation,
): Pick<ParsedDefinition, 'routine' | 'policy' | 'statistics' | 'rule' | 'tableOptions' | 'sequence' | 'type'> => ({
  routine: creation.routine ?? null,
  policy: creation.policy ?? null,
  statistics: creation.statistics ?? null,
  rule: creation.rule ?? null,
  tableOptions: creation.tableOptions ?? null,
  sequence: creation.sequence ?? null,
  type: creation.type ?? null,
});

const textBetween = (bytes: Buffer, afterName: number, table: number): string =>
  ` ${bytes.toString('utf8', afterName, table).trimStart()}`.replace(/\S$/, '$& ');

/** True if the parser reads the same object from the statement that the service will run. */
function createsSame({ kind, rest }: Creation, text: string): boolean {
  try {
    const { stmts = [] } = parseSync(text) as { stmts?: Statement[] };
    const created = CREATIONS[kind](stmts[0]?.stmt, Buffer.from(text).toString('latin1'));
    return stmts.length === 1 && typeof created === 'object' && fingerprintOf(created.rest) === fingerprintOf(rest);
  } catch {
    return false;
  }
}

const isTailOf = (creation: Creation, tail: string): boolean =>
  (creation.routine === undefined && creation.type === undefined) ||
  createsSame(creation, `CREATE ${createWords(creation.kind, null, creation.type)} f${tail}`);

const scratchTailOf = ({ kind, query }: Creation, tail: string): string | null =>
  kind === 'sequence' ? null : kind === 'materialized_view' ? viewTailOf(tail, query) : tail;

function partsOf(creation: Creation, tail: string): ParsedDefinition {
  const { kind, target, query, rest, calls } = creation;
  const { routine, ...parts } = partsOfKind(creation);
  const named = qualifiedName(target);
  const { schema, name } = named;
  return {
    kind,
    schema,
    name,
    id: routine === null ? qualifiedId(named) : routineId(name, routine.argumentTypes, schema),
    tail,
    scratchTail: scratchTailOf(creation, tail),
    fingerprint: hash('sha256', `${kind} ${fingerprintOf(rest)}`),
    options: optionsOf(rest),
    storage: kind === 'materialized_view' ? fingerprintOf(rest['into'] as Node) : '',
    relations: parts.type === null ? [...relationsIn(query), ...(routine?.types ?? [])] : [],
    calls: calls ?? callsIn(query),
    routine,
    ...parts,
    onTable: null,
    trigger: null,
  };
}

function targetFault(kind: ObjectKind, { relpersistence, catalogname }: Node): string | null {
  if (relpersistence === 't') return `must not create a temporary ${KINDS[kind].label}`;
  if (relpersistence === 'u') return 'must not contain UNLOGGED';
  return catalogname === undefined ? null : 'must not name a database';
}
