/** Describes merge conflicts for the person who resolves them. */
import type { MergePlace } from '../../schema/merge/model.js';
import { counted } from '../../kernel/counted.js';
import type { SchemaFiles } from './read-folder.js';

export interface ConflictAnswer {
  message: string;
  extensions: { kind: string; place: MergePlace; base?: unknown; ours?: unknown; theirs?: unknown };
}

/** One or more lines per conflict, with the locations in files and the options. */
export function describeConflicts(conflicts: readonly ConflictAnswer[], files: SchemaFiles): string {
  const lines = conflicts.map((conflict) => describe(conflict, files));
  const count = counted(conflicts.length, 'conflict');
  return `${lines.join('\n')}\nNothing was changed: ${count} between the files and what others changed since. Where the files say what the service has, it is none any more; --take ours and --take theirs (the files) decide all of them.`;
}

function describe({ message, extensions }: ConflictAnswer, files: SchemaFiles): string {
  const { place, kind, base, ours, theirs } = extensions;
  const at = fileOf(place, files);
  const values = kind === 'changed' ? `\n  base ${short(base)}, ours ${short(ours)}, theirs ${short(theirs)}` : '';
  return `${at === null ? '' : `${at}: `}${message}${values}`;
}

/** The file and line of the location. */
function fileOf({ part, collection, field, path = [] }: MergePlace, { parts, placeOf }: SchemaFiles): string | null {
  const index = parts[part].findIndex((each) => {
    if (part === 'collections') return each['collection'] === collection;
    if (part === 'fields') return each['collection'] === collection && each['field'] === field;
    return each['many_collection'] === collection && each['many_field'] === field;
  });
  return index < 0 ? null : placeOf([part, index, ...path]);
}

const LONGEST = 120;

function short(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
