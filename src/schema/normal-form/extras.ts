/**
 * Converts extras to normal form. This checks the shape, checks every text with PostgreSQL's parser, and removes empty
 * members.
 */
import type { z } from 'zod';
import {
  keyDefinition,
  checkCollation,
  checkIndexDefinition,
  checkPartitionBound,
  checkPartitionKey,
  parseConstraint,
} from '../sql-text/definitions.js';
import { checkExpression, checkTypeText } from '../sql-text/expression.js';
import {
  columnExtras,
  type ColumnExtras,
  type Domain,
  type Need,
  type SequenceOptions,
  tableExtras,
  type TableExtras,
  TRUSTED_EXTENSIONS,
  type SequenceType,
  everyOptionOf,
  sequenceFaults,
  unusualOptions,
  writtenOptions,
} from '../model/extras.js';
import type { Path } from '../../kernel/problem.js';
import { shapeMessage } from '../../kernel/shape-messages.js';
import type { Report } from './checks.js';
import { schemaOfNeed } from '../model/order.js';
import { identifierFault } from './names.js';

/* Read a collation that a table uses. */

type CollationNeed = Extract<Need, { kind: 'collation' }>;
type Member = Exclude<keyof CollationNeed, 'kind' | 'name' | 'provider'>;

/** The options besides the locale that PostgreSQL accepts per provider. */
const MEMBERS: Readonly<Record<CollationNeed['provider'], readonly Member[]>> = {
  libc: ['locale', 'lc_collate', 'lc_ctype'],
  icu: ['locale', 'deterministic', 'rules'],
  builtin: ['locale'],
};

const ALL: readonly Member[] = ['locale', 'lc_collate', 'lc_ctype', 'deterministic', 'rules'];
const TEXTS = ['locale', 'lc_collate', 'lc_ctype', 'rules'] as const;

/** Checks the options of a collation. Only the server knows if the locale exists. */
export function readCollation(need: CollationNeed, steps: Path, report: Report): Need {
  for (const member of ALL.filter((name) => need[name] !== undefined && !MEMBERS[need.provider].includes(name))) {
    report([...steps, member], `must be omitted: a collation of ${need.provider} has none`);
  }
  for (const member of TEXTS) report([...steps, member], textFault(need[member]));
  const { locale, lc_collate: collate, lc_ctype: type } = need;
  const categories = [collate, type].filter((category) => category !== undefined);
  if (need.provider === 'libc' && categories.length > 0) {
    checkCategories(need, steps, report);
    return collate !== undefined && collate === type ? asLocale(need, collate) : need;
  }
  if (locale === undefined) report([...steps, 'locale'], 'is required: the locale, as the provider names it');
  return need;
}

function checkCategories({ locale, lc_collate, lc_ctype }: CollationNeed, steps: Path, report: Report): void {
  if (locale !== undefined) report([...steps, 'locale'], 'must be omitted if lc_collate and lc_ctype are given');
  if (lc_collate === undefined) report([...steps, 'lc_collate'], 'is required with lc_ctype');
  if (lc_ctype === undefined) report([...steps, 'lc_ctype'], 'is required with lc_collate');
}

/** Replaces two equal values by one locale, as PostgreSQL stores them. */
function asLocale(need: CollationNeed, locale: string): Need {
  const { lc_collate: _, lc_ctype: __, ...rest } = need;
  return { ...rest, locale };
}

const MAX_LENGTH = 10_000;
const NO_TEXT = /\0|\p{Surrogate}/u;

function textFault(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  return NO_TEXT.test(text) ? 'must be valid UTF-8 text without the character NUL' : null;
}

/** Undefined if `input` is null or an object without members. */
export function readTableExtras(input: unknown, report: Report): TableExtras | undefined {
  const extras = parseShape(tableExtras, input, report);
  if (extras === undefined) return undefined;
  checkKey(extras, report);
  for (const [index, each] of (extras.constraints ?? []).entries()) checkConstraint(each, index, report);
  for (const [index, { name, definition }] of (extras.indexes ?? []).entries()) {
    report(['indexes', index, 'name'], identifierFault(name));
    report(['indexes', index, 'definition'], checkIndexDefinition(definition));
  }
  checkPartition(extras, report);
  const needs = extras.needs?.map((need, index) => readNeed(need, ['needs', index], report));
  return withoutEmpty(needs === undefined ? extras : { ...extras, needs });
}

/** Undefined if there are no extras, or if `input` has another shape. Problems are reported. */
export function readColumnExtras(input: unknown, report: Report): ColumnExtras | undefined {
  const extras = parseShape(columnExtras, input, report);
  if (extras === undefined) return undefined;
  if (extras.collation !== undefined) report(['collation'], checkCollation(extras.collation));
  if (extras.default !== undefined) report(['default'], checkExpression(extras.default));
  for (const name of ['primary_key_name', 'unique_name', 'index_name', 'not_null_name'] as const) {
    if (extras[name] !== undefined) report([name], identifierFault(extras[name]));
  }
  if (extras.sequence?.name !== undefined) report(['sequence', 'name'], identifierFault(extras.sequence.name));
  return withoutEmpty(extras);
}

function parseShape<S extends z.ZodType>(shape: S, input: unknown, report: Report): z.infer<S> | undefined {
  if (input === null || input === undefined) return undefined;
  const parsed = shape.safeParse(input, { error: shapeMessage });
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const at = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
    if (issue.code !== 'unrecognized_keys') report(at, issue.message.replace(/\.$/, ''));
    else for (const name of issue.keys) report([...at, name], 'is not a known member');
  }
  return undefined;
}

function checkKey({ primary_key: key }: TableExtras, report: Report): void {
  if (key === undefined) return;
  report(['primary_key', 'name'], identifierFault(key.name));
  report(['primary_key', 'columns'], key.columns.length === 0 ? 'must name columns' : null);
  for (const [index, name] of key.columns.entries()) report(['primary_key', 'columns', index], identifierFault(name));
  if (key.definition !== undefined) {
    report(['primary_key', 'definition'], keyFault(key.definition, key.columns));
  }
}

function keyFault(definition: string, columns: readonly string[]): string | null {
  const fault = constraintFault(definition, ['primary key']);
  if (fault !== null) return fault;
  const { keys } = keyDefinition(definition);
  const same = keys.length === columns.length && keys.every((name, index) => name === columns[index]);
  return same ? null : `must name columns of the key: ${columns.map((name) => JSON.stringify(name)).join(', ')}`;
}

function constraintFault(definition: string, kinds: readonly string[]): string | null {
  const parsed = parseConstraint(definition);
  if (typeof parsed === 'string') return parsed;
  return kinds.includes(parsed.kind) ? null : `must be a ${kinds.join(' or ')}`;
}

function checkConstraint(
  { name, definition, references }: NonNullable<TableExtras['constraints']>[number],
  index: number,
  report: Report,
): void {
  report(['constraints', index, 'name'], identifierFault(name));
  const parsed = parseConstraint(definition);
  if (typeof parsed === 'string') report(['constraints', index, 'definition'], parsed);
  else if (parsed.kind === 'primary key') {
    report(['constraints', index, 'definition'], 'must not be a primary key, which has a member of its own');
  } else if (parsed.references?.schema !== undefined) {
    // A later check of the state finds a collection that does not have this table.
    report(['constraints', index, 'references'], references === undefined ? 'must name the collection' : null);
  } else if (parsed.references?.table !== references) {
    const expected = JSON.stringify(parsed.references?.table ?? null);
    report(['constraints', index, 'references'], `must be ${expected}, as in the definition`);
  }
}

function checkPartition({ partition_by, partition_of }: TableExtras, report: Report): void {
  if (partition_by !== undefined) report(['partition_by'], checkPartitionKey(partition_by));
  if (partition_of === undefined) return;
  report(['partition_of', 'table'], identifierFault(partition_of.table));
  report(['partition_of', 'bound'], checkPartitionBound(partition_of.bound));
}

type SequenceNeed = Extract<Need, { kind: 'sequence' }>;

function readNeed(need: Need, steps: Path, report: Report): Need {
  report([...steps, 'name'], identifierFault(need.name));
  const schema = schemaOfNeed(need);
  if (schema !== undefined) report([...steps, 'schema'], identifierFault(schema));
  if (need.kind === 'extension') {
    const trusted = TRUSTED_EXTENSIONS.has(need.name);
    report([...steps, 'name'], trusted ? null : 'must be an extension that PostgreSQL marks as trusted');
  } else if (need.kind === 'domain') checkDomain(need, steps, report);
  else if (need.kind === 'sequence') return readSequenceNeed(need, steps, report);
  else if (need.kind === 'collation') return readCollation(need, steps, report);
  return need;
}

function readSequenceNeed(
  { kind, schema, name, owned_by, ...options }: SequenceNeed,
  steps: Path,
  report: Report,
): Need {
  if (owned_by !== undefined) report([...steps, 'owned_by'], identifierFault(owned_by));
  const owner = owned_by === undefined ? {} : { owned_by };
  return {
    kind,
    ...(schema !== undefined && { schema }),
    name,
    ...owner,
    ...readSequenceOptions(options, 'bigint', steps, report),
  };
}

/**
 * Returns the options as PostgreSQL stores them, without defaults.
 * @param usualType the default type: for an identity, that of the column
 */
export function readSequenceOptions(
  input: SequenceOptions,
  usualType: SequenceType,
  steps: Path,
  report: Report,
): SequenceOptions {
  const faults = sequenceFaults(input, usualType);
  for (const [member, message] of faults) report([...steps, member], message);
  return faults.length > 0 ? input : unusualOptions(everyOptionOf(writtenOptions(input), usualType), usualType);
}

function checkDomain(domain: Domain, steps: Path, report: Report): void {
  report([...steps, 'type'], checkTypeText(domain.type));
  if (domain.collation !== undefined) report([...steps, 'collation'], checkCollation(domain.collation));
  if (domain.default !== undefined) report([...steps, 'default'], checkExpression(domain.default));
  for (const [index, { name, definition }] of (domain.checks ?? []).entries()) {
    report([...steps, 'checks', index, 'name'], identifierFault(name));
    report([...steps, 'checks', index, 'definition'], constraintFault(definition, ['check']));
  }
}

/** Removes absent members and empty lists. */
function withoutEmpty<T extends object>(extras: T): T | undefined {
  const kept = Object.entries(extras).filter(([, value]) => {
    if (value === undefined) return false;
    return Array.isArray(value) ? value.length > 0 : true;
  });
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as T);
}
