/**
 * Keeps the existing spelling of equivalent SQL texts in submitted extras, so that another spelling, such as
 * PostgreSQL's own, is no change.
 */
import type { ColumnExtras, Need, TableExtras } from '../model/extras.js';
import { needLabel } from '../model/needs.js';
import type { TextKind } from './check-sql-text.js';
import { isSameText } from './same-text.js';

/** Returns a copy of `given`. Objects are matched by name. */
export function withKnownTexts(given: TableExtras, known: TableExtras): TableExtras {
  const { constraints, indexes, needs } = given;
  return {
    ...given,
    ...(given.primary_key && { primary_key: withText('constraint', given.primary_key, known.primary_key) }),
    ...(constraints && { constraints: eachByName('constraint', constraints, known.constraints) }),
    ...(indexes && { indexes: eachByName('index', indexes, known.indexes) }),
    ...knownPartition(given, known),
    ...(needs && { needs: needs.map((need) => knownNeed(need, known.needs)) }),
  };
}

function knownPartition({ partition_by: by, partition_of: of }: TableExtras, known: TableExtras): TableExtras {
  return {
    ...(by !== undefined && { partition_by: knownOrGiven('partition key', by, known.partition_by) }),
    ...(of && { partition_of: { ...of, bound: knownOrGiven('partition bound', of.bound, known.partition_of?.bound) } }),
  };
}

/** Returns the given value if it has no default or a different one. */
export function withKnownDefault(given: ColumnExtras, known: ColumnExtras | undefined): ColumnExtras {
  if (given.default === undefined) return given;
  return { ...given, default: knownOrGiven('expression', given.default, known?.default) };
}

const knownOrGiven = (kind: TextKind, given: string, known: string | undefined): string =>
  known !== undefined && isSameText(kind, given, known) ? known : given;

interface Defined {
  name: string;
  definition?: string;
}

function withText<T extends Defined>(kind: TextKind, given: T, known: Defined | undefined): T {
  return given.definition === undefined
    ? given
    : { ...given, definition: knownOrGiven(kind, given.definition, known?.definition) };
}

function eachByName<T extends Defined>(kind: TextKind, given: readonly T[], known: readonly Defined[] = []): T[] {
  const there = new Map(known.map((each) => [each.name, each]));
  return given.map((each) => withText(kind, each, there.get(each.name)));
}

function knownNeed(need: Need, all: readonly Need[] = []): Need {
  const known = all.find((each) => needLabel(each) === needLabel(need));
  if (need.kind !== 'domain' || known?.kind !== 'domain') return need;
  const { default: value, checks } = need;
  return {
    ...need,
    ...(value !== undefined && { default: knownOrGiven('expression', value, known.default) }),
    ...(checks && { checks: eachByName('constraint', checks, known.checks) }),
  };
}
