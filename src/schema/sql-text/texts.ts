/** Every place of a collection where SQL text of a request stands that PostgreSQL evaluates. */
import type { Domain, TableExtras } from '../model/extras.js';
import type { Field } from '../model/model.js';
import type { Path } from '../../kernel/problem.js';
import type { TextKind } from './check-sql-text.js';

export interface SqlText {
  kind: TextKind;
  text: string;
  /** From the collection's document, or the field's. */
  path: Path;
}

/** Empty where there are none. Those of fields are `textsOfField`'s. */
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

/** Its rules. */
export function textsOfDomain({ default: value, checks = [] }: Domain, path: Path): SqlText[] {
  return [
    ...text('expression', value, [...path, 'default']),
    ...checks.flatMap((each, at) => text('constraint', each.definition, [...path, 'checks', at, 'definition'])),
  ];
}

/** Its generation expression and its default, where they are SQL; empty for an alias. */
export function textsOfField({ schema }: Field): SqlText[] {
  if (schema === null) return [];
  return [
    ...text('expression', schema.generation_expression ?? undefined, ['schema', 'generation_expression']),
    ...text('expression', schema.extras?.default, ['schema', 'extras', 'default']),
  ];
}

const text = (kind: TextKind, given: string | undefined, path: Path): SqlText[] =>
  given === undefined ? [] : [{ kind, text: given, path }];
