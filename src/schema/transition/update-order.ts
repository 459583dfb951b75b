/** The order in which the fields of a collection are updated. */
import { indexNameOf, uniqueNameOf } from '../model/constraint-names.js';
import type { Field } from '../model/model.js';
import type { Resumable } from '../../kernel/resumable.js';
import { groupsFirst, neededFirst } from '../model/order.js';

type Fields = ReadonlyMap<string, Field>;

/** Groups come first. A field that releases the name of an index or constraint precedes one that takes it. */
export function* updateOrder(names: readonly string[], before: Fields, after: Fields): Resumable<string[]> {
  const groupOf = (name: string) => after.get(name)?.meta.group;
  const givers = new Map<string, string>();
  for (const name of names) {
    const [old, now] = [before.get(name), after.get(name)];
    if (old === now) continue;
    const kept = partNames(now);
    for (const part of partNames(old)) if (!kept.includes(part)) givers.set(part, name);
    yield;
  }
  if (givers.size === 0) return yield* groupsFirst(names, groupOf);
  const giversTo = (name: string) => partNames(after.get(name)).map((part) => givers.get(part));
  return yield* neededFirst(names, (name) =>
    [groupOf(name), ...giversTo(name)].filter((each) => typeof each === 'string'),
  );
}

function partNames(field: Field | undefined): string[] {
  if (!field?.schema) return [];
  const column = { ...field, schema: field.schema };
  return [
    ...(column.schema.is_indexed ? [indexNameOf(column)] : []),
    ...(column.schema.is_unique ? [uniqueNameOf(column)] : []),
  ];
}
