/* Reads definitions of sequences and types. */
import {
  type Domain,
  type SequenceOptions,
  type SequenceType,
  everyOptionOf,
  sequenceFaults,
  unusualOptions,
} from '../model/extras.js';
import { extensionsWith } from './allowed-names.js';
import { checkSqlText } from './check-sql-text.js';
import {
  type Node,
  NOTHING_AROUND,
  checkTypeText,
  list,
  member,
  nodesIn,
  parseStatement,
  parseStatements,
  parseTypeText,
  stringOf,
} from './expression.js';
import { quotedName, targetNamed } from './quoted-name.js';
import { fingerprintOf } from './compare-and-rename.js';
import type { QualifiedName } from '../model/object-ids.js';

/* Reads the options of CREATE SEQUENCE. */

const TYPES: ReadonlyMap<string, SequenceType> = new Map([
  ['int2', 'smallint'],
  ['int4', 'integer'],
  ['int8', 'bigint'],
]);

/** The members of the document, and the words of the statement, by the parser's names of numeric options. */
const NUMBERS = new Map([
  ['start', ['start', 'START'] as const],
  ['increment', ['increment', 'INCREMENT'] as const],
  ['minvalue', ['min', 'MINVALUE'] as const],
  ['maxvalue', ['max', 'MAXVALUE'] as const],
  ['cache', ['cache', 'CACHE'] as const],
]);

type Option = readonly [name: string, arg: unknown];

/** Returns the options that differ from PostgreSQL's defaults, or a sentence that follows "definition". */
export function readSequenceOptions(created: Node): SequenceOptions | string {
  if (created['if_not_exists'] === true) return 'must not contain IF NOT EXISTS';
  const options: SequenceOptions = {};
  const seen = new Set<string>();
  for (const each of list(created['options'])) {
    const option = member(each, 'DefElem');
    const name = String(option?.['defname']);
    if (seen.has(name)) return 'must contain each option only once';
    seen.add(name);
    const fault = readOption(options, [name, option?.['arg']]);
    if (fault !== null) return fault;
  }
  const [fault] = sequenceFaults(options, 'bigint');
  if (fault === undefined) return unusualOptions(everyOptionOf(options, 'bigint'), 'bigint');
  const [, words] = [...NUMBERS.values()].find(([name]) => name === fault[0]) ?? [];
  return `contains an invalid ${words ?? fault[0]}: it ${fault[1]}`;
}

/** Adds one option. Returns why it is not accepted, or null. */
function readOption(options: SequenceOptions, [name, arg]: Option): string | null {
  const number = NUMBERS.get(name);
  if (number !== undefined) {
    // NO MINVALUE and NO MAXVALUE have no value.
    if (arg === undefined) return null;
    const value = integerIn(arg);
    if (value === null) return `must have a 64-bit integer as ${number[1]}`;
    options[number[0]] = value;
    return null;
  }
  if (name === 'as') return readType(options, arg);
  if (name === 'cycle') {
    if (member(arg, 'Boolean')?.['boolval'] === true) options.cycle = true;
    return null;
  }
  if (name === 'owned_by')
    return isNone(arg) ? null : 'must not contain OWNED BY: a sequence of a column belongs to its table';
  return 'must contain only AS, START, INCREMENT, MINVALUE, MAXVALUE, CACHE and CYCLE';
}

function readType(options: SequenceOptions, arg: unknown): string | null {
  const type = member(arg, 'TypeName');
  const names = list(type?.['names']).map(stringOf);
  const isBuiltIn = names.length === 1 || (names.length === 2 && names[0] === 'pg_catalog');
  const known = isBuiltIn && type?.['arrayBounds'] === undefined ? TYPES.get(names.at(-1) ?? '') : undefined;
  if (known === undefined) return 'must have the type smallint, integer or bigint';
  options.type = known;
  return null;
}

const isNone = (arg: unknown): boolean => {
  const [only, ...others] = list(member(arg, 'List')?.['items']).map(stringOf);
  return only === 'none' && others.length === 0;
};

/** The parser returns numbers with more than 32 bits as text. Zero has no value. */
function integerIn(arg: unknown): string | null {
  const small = member(arg, 'Integer');
  if (small !== undefined) return typeof small['ival'] === 'number' ? String(small['ival']) : '0';
  const text = member(arg, 'Float')?.['fval'];
  if (typeof text !== 'string' || !/^-?\d{1,30}$/.test(text)) return null;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? String(value) : null;
}

/* Reads the definition of an enum, a domain, a composite type or a range type. */

export type TypeParts = {
  /** The types that the definition names, without those of pg_catalog. */
  types: readonly QualifiedName[];
} & (
  | { form: 'enum'; labels: readonly string[] }
  | { form: 'domain'; domain: Domain; /** Equal for equal base types and collations. */ base: string }
  | { form: 'composite'; attributes: readonly Attribute[] }
  | { form: 'range'; options: string }
);

interface Attribute {
  name: string;
  /** The type and the collation as SQL. */
  type: string;
  /** Equal for equal types and collations. */
  fingerprint: string;
}

interface ReadType {
  /** The node with the name. */
  target: Node;
  rest: Node;
  type: TypeParts;
}

/** Returns the parts, or a sentence that follows "definition". Undefined for another statement. */
export function readTypeParts(statement: unknown, text: string): ReadType | string | undefined {
  const defined = member(statement, 'DefineStmt');
  if (defined?.['kind'] === 'OBJECT_TYPE')
    return 'must create an enum, a domain, a composite type or a range type. PostgreSQL requires a superuser for a base type';
  const created = member(statement, 'CreateEnumStmt');
  if (created !== undefined) return readEnum(created, text);
  const domain = member(statement, 'CreateDomainStmt');
  if (domain !== undefined) return readDomain(domain, text);
  const composite = member(statement, 'CompositeTypeStmt');
  if (composite !== undefined) return readComposite(composite, text);
  const range = member(statement, 'CreateRangeStmt');
  return range && readRange(range, text);
}

function readEnum({ typeName: name, vals }: Node, text: string): ReadType | string {
  const labels = list(vals).map((each) => stringOf(each) ?? '');
  if (new Set(labels).size < labels.length) return 'must contain each label only once';
  if (labels.some((label) => Buffer.byteLength(label) > 63 || label === ''))
    return 'must have labels with 1 to 63 bytes';
  return { target: targetNamed(name, text), rest: { labels }, type: { form: 'enum', labels, types: [] } };
}

function readDomain({ domainname: name, ...rest }: Node, text: string): ReadType | string {
  const base = rest['typeName'] as Node;
  const collation = rest['collClause'] as Node | undefined;
  const constraints = list(rest['constraints']).map((each) => member(each, 'Constraint') ?? {});
  const slices = createSlices(text, [base, ...(collation === undefined ? [] : [collation]), ...constraints]);
  const domain: Domain = { type: slices(base) };
  const typeFault = checkTypeText(domain.type);
  if (typeFault !== null) return `has a base type that ${typeFault}`;
  if (collation !== undefined) domain.collation = slices(collation).replace(/^collate\s+/i, '');
  for (const each of constraints) {
    const fault = addConstraint(domain, each, slices(each).replace(NAMED, ''));
    if (fault !== null) return fault;
  }
  const names = (domain.checks ?? []).map((check) => check.name);
  if (new Set(names).size < names.length) return 'must have different names for its CHECK constraints';
  const fault = textFaultOf(domain, base);
  if (fault !== null) return fault;
  const same = fingerprintOf({ base, collation });
  const type: TypeParts = { form: 'domain', domain, base: same, types: typesIn(rest) };
  return { target: targetNamed(name, text), rest, type };
}

/** Adds a constraint. Returns why it is not accepted, or null. */
function addConstraint(domain: Domain, { contype, conname: name }: Node, definition: string): string | null {
  if (contype === 'CONSTR_NOTNULL') domain.not_null = true;
  else if (contype === 'CONSTR_DEFAULT') domain.default = definition.replace(/^default\s+/i, '');
  else if (contype === 'CONSTR_CHECK') {
    if (typeof name !== 'string') return 'must name each CHECK constraint: CONSTRAINT name CHECK (…)';
    domain.checks = [...(domain.checks ?? []), { name, definition }];
  } else if (contype !== 'CONSTR_NULL') return 'must contain only COLLATE, DEFAULT, NOT NULL, NULL and CHECK';
  return null;
}

const NAMED = /^constraint\s+(?:"(?:[^"]|"")*"|[^\s"]+)\s*/i;

/** The rules are those of domains in the needs of a table, so that a new database can create the type before any function. */
function textFaultOf(domain: Domain, base: Node): string | null {
  const name = list(base['names']).map(stringOf).at(-1) ?? '';
  const around = {
    ...NOTHING_AROUND,
    columnTypes: new Set([parseTypeText(domain.type)?.name ?? name]),
    extensions: new Set(extensionsWith('types', name)),
  };
  for (const { name: check, definition } of domain.checks ?? []) {
    const fault = checkSqlText('constraint', definition, around);
    if (fault !== null) return `has a constraint ${JSON.stringify(check)} that ${fault}`;
  }
  const fault = domain.default === undefined ? null : checkSqlText('expression', domain.default, around);
  return fault === null ? null : `has a default that ${fault}`;
}

/** Returns a function that returns the text from a node to the next one. The text has one character per byte. */
function createSlices(text: string, nodes: readonly Node[]): (node: Node) => string {
  const starts = nodes.map(({ location }) => Number(location ?? 0)).sort((a, b) => a - b);
  return ({ location = 0 }) => {
    const end = starts.find((start) => start > Number(location));
    return Buffer.from(text.slice(Number(location), end), 'latin1')
      .toString('utf8')
      .trim();
  };
}

function readComposite({ typevar: name, coldeflist }: Node, text: string): ReadType | string {
  const columns = list(coldeflist).map((each) => member(each, 'ColumnDef') ?? {});
  const attributes: Attribute[] = [];
  for (const column of columns) {
    const attribute = readAttribute(column, text);
    if (typeof attribute === 'string') return attribute;
    attributes.push(attribute);
  }
  if (new Set(attributes.map((each) => each.name)).size < attributes.length)
    return 'must contain each attribute only once';
  const type: TypeParts = { form: 'composite', attributes, types: typesIn({ coldeflist }) };
  return { target: name as Node, rest: { coldeflist }, type };
}

function readAttribute({ colname, typeName, collClause }: Node, text: string): Attribute | string {
  const [type, collation] = [typeName as Node, collClause as Node | undefined];
  const rest = text.slice(Number(type['location'] ?? 0));
  // The parser reports no end. The type ends with the last text before a comma or a parenthesis that parses alike.
  for (const { index } of rest.matchAll(/[,)]/g)) {
    const part = Buffer.from(rest.slice(0, index), 'latin1').toString('utf8').trim();
    const parsed = parseAttribute(part);
    if (parsed !== null && fingerprintOf(parsed) === fingerprintOf({ type, collation }))
      return { name: String(colname), type: part, fingerprint: fingerprintOf({ type, collation }) };
  }
  return `must write the type of the attribute ${JSON.stringify(colname)} without comments`;
}

export function parseAttribute(text: string): Node | null {
  if (/--|\/\*/.test(text)) return null;
  const statement = parseStatement(`CREATE TYPE t AS (a ${text})`);
  if (typeof statement === 'string') return null;
  const [column, ...others] = list(member(statement, 'CompositeTypeStmt')?.['coldeflist']);
  const read = member(column, 'ColumnDef');
  return read === undefined || others.length > 0 ? null : { type: read['typeName'], collation: read['collClause'] };
}

const RANGE_OPTIONS: ReadonlySet<string> = new Set([
  'subtype',
  'subtype_opclass',
  'collation',
  'subtype_diff',
  'multirange_type_name',
]);

/** The functions of PostgreSQL that can be SUBTYPE_DIFF. */
const DIFFERENCES: ReadonlySet<string> = new Set([
  'float8mi',
  'numrange_subdiff',
  'int4range_subdiff',
  'int8range_subdiff',
  'daterange_subdiff',
  'tsrange_subdiff',
  'tstzrange_subdiff',
]);

function readRange({ typeName: name, params }: Node, text: string): ReadType | string {
  const options = new Map(
    list(params).map((each): [string, unknown] => {
      const option = member(each, 'DefElem') ?? {};
      return [String(option['defname']), option['arg']];
    }),
  );
  if (options.size < list(params).length) return 'must contain each option only once';
  if ([...options.keys()].some((each) => !RANGE_OPTIONS.has(each)))
    return 'must contain only SUBTYPE, SUBTYPE_OPCLASS, COLLATION, SUBTYPE_DIFF and MULTIRANGE_TYPE_NAME';
  const namesOf = (option: string): (string | undefined)[] =>
    list(member(options.get(option), 'TypeName')?.['names']).map(stringOf);
  const difference = namesOf('subtype_diff').at(-1);
  if (difference !== undefined && !DIFFERENCES.has(difference))
    return `must have a function of PostgreSQL as SUBTYPE_DIFF: ${[...DIFFERENCES].join(', ')}. A new database creates types before functions`;
  if (namesOf('multirange_type_name').length > 1) return 'must write MULTIRANGE_TYPE_NAME without a schema';
  const rest = { options: [...options].sort(([a], [b]) => (a < b ? -1 : 1)).map(([each, arg]) => [each, { arg }]) };
  const types = typesIn({ subtype: options.get('subtype') });
  return { target: targetNamed(name, text), rest, type: { form: 'range', options: fingerprintOf(rest), types } };
}

/** Returns the types that a definition names. */
function typesIn(root: Node): QualifiedName[] {
  const types = new Map<string, QualifiedName>();
  for (const [, node] of nodesIn(root)) {
    if (node['typemod'] === undefined) continue;
    const names = list(node['names']).map((each) => stringOf(each) ?? '');
    if (names.length > 1 && names[0] === 'pg_catalog') continue;
    types.set(names.join('.'), { schema: names.at(-2), name: names.at(-1) ?? '' });
  }
  return [...types.values()];
}

/**
 * True if ALTER TYPE can change the first type to the second. PostgreSQL cannot remove or reorder the labels of an enum,
 * cannot change the base type of a domain, appends new attributes, and cannot change a range type.
 */
export function isReplaceableType(old: TypeParts, now: TypeParts): boolean {
  if (old.form === 'enum') return now.form === 'enum' && labelChanges(old.labels, now.labels) !== null;
  if (old.form === 'domain') return now.form === 'domain' && old.base === now.base;
  if (old.form === 'composite') return now.form === 'composite' && attributeChanges(old, now) !== null;
  return now.form === 'range' && old.options === now.options;
}

export interface LabelChanges {
  renamed: readonly (readonly [old: string, now: string])[];
  /** The new labels, each with the label before which it belongs. Undefined for the end. */
  added: readonly (readonly [label: string, before: string | undefined])[];
}

/**
 * Returns the changes of labels, or null if PostgreSQL cannot make them. Labels that differ at the same positions of lists
 * of the same length are renamed, because PostgreSQL cannot remove one.
 */
export function labelChanges(old: readonly string[], now: readonly string[]): LabelChanges | null {
  const [before, after] = [new Set(old), new Set(now)];
  if (old.length === now.length) {
    const renamed = old.flatMap((label, index): [string, string][] =>
      label === now[index] ? [] : [[label, now[index] ?? '']],
    );
    return renamed.every(([from, to]) => !after.has(from) && !before.has(to)) ? { renamed, added: [] } : null;
  }
  const kept = now.filter((label) => before.has(label));
  if (kept.length !== old.length || kept.some((label, index) => label !== old[index])) return null;
  // A label is added before the next label that exists already.
  const added = now.flatMap((label, index): [string, string | undefined][] =>
    before.has(label) ? [] : [[label, now.slice(index + 1).find((each) => before.has(each))]],
  );
  return { renamed: [], added };
}

interface AttributeChanges {
  dropped: readonly Attribute[];
  changed: readonly Attribute[];
  added: readonly Attribute[];
}

type Composite = Extract<TypeParts, { form: 'composite' }>;

/** Returns the changes of attributes, or null if PostgreSQL cannot make them in place. */
export function attributeChanges(old: Composite, now: Composite): AttributeChanges | null {
  const before = new Map(old.attributes.map((each) => [each.name, each]));
  const after = new Set(now.attributes.map(({ name }) => name));
  const kept = old.attributes.filter(({ name }) => after.has(name));
  const isInOrder = kept.every(({ name }, index) => now.attributes[index]?.name === name);
  // Without attributes, PostgreSQL keeps the type, but a change that drops all of them is not a change of the same
  // type.
  if (!isInOrder || (kept.length === 0 && old.attributes.length > 0)) return null;
  return {
    dropped: old.attributes.filter(({ name }) => !after.has(name)),
    changed: now.attributes.filter(({ name, fingerprint }) => {
      const former = before.get(name);
      return former !== undefined && former.fingerprint !== fingerprint;
    }),
    added: now.attributes.filter(({ name }) => !before.has(name)),
  };
}

/**
 * Returns the definition of a domain with a name for each CHECK constraint, as PostgreSQL names them. Other definitions
 * stay the same. Without the name, a later change could not determine which constraint it replaces.
 */
export function nameChecks(definition: string): string {
  if (!/\bdomain\b/i.test(definition)) return definition;
  const statements = parseStatements(definition);
  const [statement] = typeof statements === 'string' ? [] : statements;
  const domain = member(statement?.stmt, 'CreateDomainStmt');
  const checks = list(domain?.['constraints'])
    .map((each) => member(each, 'Constraint') ?? {})
    .filter(({ contype }) => contype === 'CONSTR_CHECK');
  const names = new Set(checks.flatMap(({ conname }) => (typeof conname === 'string' ? conname : [])));
  const name = list(domain?.['domainname']).map(stringOf).at(-1) ?? '';
  // A longer name would be truncated. It must then be in the definition.
  if (Buffer.byteLength(name) > 50) return definition;
  let bytes = Buffer.from(definition);
  let offset = 0;
  for (const { conname, location } of checks) {
    if (conname !== undefined) continue;
    const free = freeName(`${name}_check`, names);
    names.add(free);
    const text = Buffer.from(`CONSTRAINT ${quotedName(free)} `);
    const at = Number(location) + offset;
    bytes = Buffer.concat([bytes.subarray(0, at), text, bytes.subarray(at)]);
    offset += text.length;
  }
  return bytes.toString();
}

function freeName(first: string, names: ReadonlySet<string>): string {
  for (let number = 0; ; number += 1) {
    const name = number === 0 ? first : `${first}${number}`;
    if (!names.has(name)) return name;
  }
}
