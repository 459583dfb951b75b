/* Lists all SQL of a collection that PostgreSQL evaluates. */
import type { Domain, TableExtras, ColumnExtras, Need } from '../model/extras.js';
import type { Field } from '../model/model.js';
import {
  type Path,
  MAX_PROBLEMS,
  type Problem,
  type Subject,
  problemAbout,
  problemsInSteps,
} from '../../kernel/problem.js';
import { type TextKind, checkSqlText } from './check-sql-text.js';
import { type CollectionNode, type State, extrasOf } from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type TextContext, textContextOf } from './expression.js';
import { needLabel } from '../model/order.js';
import { isSameText } from './compare-and-rename.js';

export interface SqlText {
  kind: TextKind;
  text: string;
  /** The path of the text within the document of the collection or field. */
  path: Path;
}

/** Returns the SQL of a table without that of its fields, for which see `textsOfField`. */
export function textsOfTable(extras: TableExtras | undefined): SqlText[] {
  if (extras === undefined) return [];
  const { constraints = [], indexes = [], primary_key: key, partition_by: by, partition_of: of, needs = [] } = extras;
  return [
    ...text('constraint', key?.definition, ['primary_key', 'definition']),
    ...constraints.flatMap((each, at) => text('constraint', each.definition, ['constraints', at, 'definition'])),
    ...indexes.flatMap((each, at) => text('index', each.definition, ['indexes', at, 'definition'])),
    ...text('partition key', by, ['partition_by']),
    ...text('partition bound', of?.bound, ['partition_of', 'bound']),
    ...needs.flatMap((need, at) => (need.kind === 'domain' ? textsOfDomain(need, ['needs', at]) : [])),
  ].map((each) => ({ ...each, path: ['schema', 'extras', ...each.path] }));
}

/** The rules of a domain. */
export function textsOfDomain({ default: value, checks = [] }: Domain, path: Path): SqlText[] {
  return [
    ...text('expression', value, [...path, 'default']),
    ...checks.flatMap((each, at) => text('constraint', each.definition, [...path, 'checks', at, 'definition'])),
  ];
}

/** Returns the generation expression and the default of a field, if these are SQL. Empty for an alias. */
export function textsOfField({ schema }: Field): SqlText[] {
  if (schema === null) return [];
  return [
    ...text('expression', schema.generation_expression ?? undefined, ['schema', 'generation_expression']),
    ...text('expression', schema.extras?.default, ['schema', 'extras', 'default']),
  ];
}

const text = (kind: TextKind, value: string | undefined, path: Path): SqlText[] =>
  value === undefined ? [] : [{ kind, text: value, path }];

/* Check the SQL that a change introduces. Existing SQL is not checked again, so that the log and adopted
   objects remain usable if the list of allowed names becomes shorter. */

/** @param touched the collections that may differ between the two states */
export function* sqlTextProblems(from: State, to: State, touched: Iterable<string>): Resumable<Problem[]> {
  const problems: Problem[] = [];
  for (const name of touched) {
    if (problems.length >= MAX_PROBLEMS) break;
    const node = to.collections.get(name);
    if (node !== undefined) problems.push(...(yield* problemsOf(from.collections.get(name), node)));
    yield;
  }
  return problems;
}

function* problemsOf(before: CollectionNode | undefined, node: CollectionNode): Resumable<Problem[]> {
  const { collection } = node.collection;
  let around: TextContext | undefined;
  const check = (texts: readonly SqlText[], field?: string): Problem[] =>
    texts.flatMap(({ kind, text, path }) => {
      const fault = checkSqlText(kind, text, (around ??= textContextOf(node)));
      if (fault === null) return [];
      const subject: Subject =
        field === undefined
          ? { kind: 'collection', collection, member: path }
          : { kind: 'field', collection, field, member: path };
      return [problemAbout(subject, `${path.at(-1)} ${fault}`)];
    });
  const ofTable = check(newTexts(tableTexts(before), tableTexts(node)));
  const ofFields = yield* problemsInSteps(node.fields.values(), (field) => {
    const existing = before?.fields.get(field.field);
    if (field === existing) return [];
    return check(newTexts(existing === undefined ? [] : textsOfField(existing), textsOfField(field)), field.field);
  });
  return [...ofTable, ...ofFields];
}

const tableTexts = (node: CollectionNode | undefined): SqlText[] => textsOfTable(extrasOf(node));

/**
 * Returns the SQL that did not exist before. The location does not matter: the same text under another index name is
 * not new.
 */
function newTexts(before: readonly SqlText[], after: readonly SqlText[]): SqlText[] {
  if (after.length === 0) return [];
  const existing = new Set(before.map(({ kind, text }) => `${kind}\0${text}`));
  return after.filter(({ kind, text }) => !existing.has(`${kind}\0${text}`));
}

/* Keep the existing spelling of equivalent SQL in submitted extras. A different spelling of the same SQL, such
   as PostgreSQL's own, is then not a change. */

/** Returns a copy of `submitted` with the existing spelling of equivalent texts. Objects are matched by name. */
export function keepKnownTexts(submitted: TableExtras, existing: TableExtras): TableExtras {
  const { constraints, indexes, needs } = submitted;
  return {
    ...submitted,
    ...(submitted.primary_key && { primary_key: withText('constraint', submitted.primary_key, existing.primary_key) }),
    ...(constraints && { constraints: keepKnownByName('constraint', constraints, existing.constraints) }),
    ...(indexes && { indexes: keepKnownByName('index', indexes, existing.indexes) }),
    ...keepKnownPartition(submitted, existing),
    ...(needs && { needs: needs.map((need) => keepKnownNeed(need, existing.needs)) }),
  };
}

function keepKnownPartition({ partition_by: by, partition_of: of }: TableExtras, existing: TableExtras): TableExtras {
  return {
    ...(by !== undefined && { partition_by: keepKnownText('partition key', by, existing.partition_by) }),
    ...(of && {
      partition_of: { ...of, bound: keepKnownText('partition bound', of.bound, existing.partition_of?.bound) },
    }),
  };
}

/**
 * Returns the submitted extras with the existing spelling of an equivalent default. Returns them unchanged if they have
 * no default or a different one.
 */
export function withKnownDefault(submitted: ColumnExtras, existing: ColumnExtras | undefined): ColumnExtras {
  if (submitted.default === undefined) return submitted;
  return { ...submitted, default: keepKnownText('expression', submitted.default, existing?.default) };
}

const keepKnownText = (kind: TextKind, submitted: string, existing: string | undefined): string =>
  existing !== undefined && isSameText(kind, submitted, existing) ? existing : submitted;

interface NamedDefinition {
  name: string;
  definition?: string;
}

function withText<T extends NamedDefinition>(kind: TextKind, submitted: T, existing: NamedDefinition | undefined): T {
  return submitted.definition === undefined
    ? submitted
    : { ...submitted, definition: keepKnownText(kind, submitted.definition, existing?.definition) };
}

function keepKnownByName<T extends NamedDefinition>(
  kind: TextKind,
  submitted: readonly T[],
  existing: readonly NamedDefinition[] = [],
): T[] {
  const there = new Map(existing.map((each) => [each.name, each]));
  return submitted.map((each) => withText(kind, each, there.get(each.name)));
}

function keepKnownNeed(need: Need, all: readonly Need[] = []): Need {
  const existing = all.find((each) => needLabel(each) === needLabel(need));
  if (need.kind !== 'domain' || existing?.kind !== 'domain') return need;
  const { default: value, checks } = need;
  return {
    ...need,
    ...(value !== undefined && { default: keepKnownText('expression', value, existing.default) }),
    ...(checks && { checks: keepKnownByName('constraint', checks, existing.checks) }),
  };
}
