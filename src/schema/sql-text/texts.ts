/** Lists all SQL texts of a collection that PostgreSQL evaluates. */
import type { Domain, TableExtras } from '../model/extras.js';
import type { Field } from '../model/model.js';
import type { Path } from '../../kernel/problem.js';
import type { TextKind } from './check-sql-text.js';

export interface SqlText {
  kind: TextKind;
  text: string;
  /** Relative to the document of the collection or field. */
  path: Path;
}

/** Excludes fields, see `textsOfField`. */
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

/** Its generation expression and default, if they are SQL. Empty for an alias. */
export function textsOfField({ schema }: Field): SqlText[] {
  if (schema === null) return [];
  return [
    ...text('expression', schema.generation_expression ?? undefined, ['schema', 'generation_expression']),
    ...text('expression', schema.extras?.default, ['schema', 'extras', 'default']),
  ];
}

const text = (kind: TextKind, given: string | undefined, path: Path): SqlText[] =>
  given === undefined ? [] : [{ kind, text: given, path }];
