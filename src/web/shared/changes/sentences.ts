/** What an entry of a diff says, in words. */
import type { Entry, SchemaDiff } from '../../service/types.js';

export interface Change {
  /** `collections`: the collection itself. */
  part: 'collections' | 'fields' | 'relations';
  collection: string;
  field: string | null;
  how: 'made' | 'changed' | 'removed';
  /** Of a change: which member, before and after. */
  members: { path: string; before: unknown; after: unknown }[];
}

const PARTS = ['collections', 'fields', 'relations'] as const;

/** One for each document that differs, in the order of the diff. */
export function changesOf(diff: Partial<SchemaDiff>): Change[] {
  return PARTS.flatMap((part) =>
    (diff[part] ?? []).map((item) => ({
      part,
      collection: item.collection,
      field: 'field' in item ? item.field : null,
      ...changeBy(item.diff),
    })),
  );
}

/** One entry without a path is a whole document that came or went. */
function changeBy(entries: readonly Entry[]): Pick<Change, 'how' | 'members'> {
  const [first] = entries;
  if (first !== undefined && first.path === undefined) {
    return { how: first.kind === 'N' ? 'made' : 'removed', members: [] };
  }
  return { how: 'changed', members: entries.map(memberOf) };
}

function memberOf(entry: Entry): Change['members'][number] {
  const path = (entry.path ?? []).join('.');
  const side = (of: object, name: 'lhs' | 'rhs'): unknown => (of as { lhs?: unknown; rhs?: unknown })[name];
  if (entry.kind !== 'A') return { path, before: side(entry, 'lhs'), after: side(entry, 'rhs') };
  return { path: `${path}.${entry.index}`, before: side(entry.item, 'lhs'), after: side(entry.item, 'rhs') };
}

const NOUNS = { collections: 'collection', fields: 'field', relations: 'relation' } as const;

export const titleOf = ({ part, collection, field }: Change): string =>
  `${NOUNS[part]} ${field === null ? collection : `${collection}.${field}`}`;

/** A value on one line: text bare, everything else as JSON. */
export function valueText(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
