/** The documents of a submitted snapshot, by the names they carry. */
import { isObject } from './json.js';
import { MAX_PROBLEMS, type Path, type Problem, invalid } from './problem.js';
import { isSystemCollection } from './system-collections.js';

/** The parts of a snapshot; an absent part says nothing. */
export interface SnapshotParts {
  collections?: unknown[] | undefined;
  fields?: unknown[] | undefined;
  relations?: unknown[] | undefined;
}

interface Collecting {
  parts: SnapshotParts;
  problems: Problem[];
  /** Where each document stands in the snapshot, for problems of the result. */
  places: Map<string, Path>;
}

/** Names joined by NUL, which can't be part of one. */
export const key = (...names: string[]): string => names.join('\0');

export type Documents = Map<string, { names: string[]; input: { [member: string]: unknown }; at: Path }>;

/** The documents of a part by the names they carry; each name once. */
export function documentsOf(reading: Collecting, part: 'collections' | 'fields', members: string[]): Documents {
  return collect(reading, part, (input, at) => {
    for (const member of members) {
      if (typeof input[member] !== 'string') return invalid([...at, member], `${member} is required, a string`);
    }
    return members.map((member) => input[member] as string);
  });
}

/** Relations name themselves flat (many_collection, many_field) or nested (collection, field). */
export function relationDocuments(reading: Collecting): Documents {
  return collect(reading, 'relations', (input, at) => {
    const collection = input['many_collection'] ?? input['collection'];
    const field = input['many_field'] ?? input['field'];
    if (typeof collection !== 'string')
      return invalid([...at, 'many_collection'], 'many_collection is required, a string');
    if (typeof field !== 'string') return invalid([...at, 'many_field'], 'many_field is required, a string');
    return [collection, field];
  });
}

function collect(
  { parts, problems, places }: Collecting,
  part: keyof SnapshotParts,
  namesOf: (input: { [member: string]: unknown }, at: Path) => string[] | Problem,
): Documents {
  const documents: Documents = new Map();
  for (const [index, input] of (parts[part] ?? []).entries()) {
    if (problems.length >= MAX_PROBLEMS) break;
    const at = [part, index];
    const names = isObject(input) ? namesOf(input, at) : invalid(at, 'an object is expected');
    if (!Array.isArray(names)) {
      problems.push(names);
      continue;
    }
    const id = key(...names);
    if (isSystemCollection(names[0] as string)) {
      problems.push(invalid(at, `${JSON.stringify(names[0])} is a system collection; leave it out of the snapshot`));
    } else if (documents.has(id))
      problems.push(invalid(at, `${JSON.stringify(names.join('.'))} stands in ${part} twice`));
    documents.set(id, { names, input: input as { [member: string]: unknown }, at });
    places.set(key(part, ...names), at);
  }
  return documents;
}
