/** Keeps State.indexNames: which collection has a field whose index bears a name. */
import { indexNameOf } from '../model/constraint-names.js';
import type { Field } from '../model/model.js';
import type { State } from '../model/state.js';

type Fields = ReadonlyMap<string, Field> | undefined;

export interface ChangedFields {
  collection: string;
  before: Fields;
  after: Fields;
}

/** The names after the fields of collections changed. All that is given up goes before anything comes. */
export function renameIndexes(names: State['indexNames'], all: readonly ChangedFields[]): State['indexNames'] {
  const changes = all.filter(({ before, after }) => before !== after);
  if (changes.length === 0) return names;
  return names.withMutations((map) => {
    for (const { collection, before, after } of changes) {
      for (const name of namesOnlyIn(before, after)) {
        if (map.get(name) === collection && !hasIndex(after, name)) map.delete(name);
      }
    }
    for (const { collection, before, after } of changes) {
      for (const name of namesOnlyIn(after, before)) if (!map.has(name)) map.set(name, collection);
    }
  });
}

/** Another field may have taken the name over. */
function hasIndex(fields: Fields, name: string): boolean {
  return [...namesOnlyIn(fields, undefined)].includes(name);
}

function* namesOnlyIn(fields: Fields, others: Fields): Generator<string> {
  for (const field of fields?.values() ?? []) {
    const { schema } = field;
    if (schema?.is_indexed === true && others?.get(field.field) !== field) yield indexNameOf({ ...field, schema });
  }
}
