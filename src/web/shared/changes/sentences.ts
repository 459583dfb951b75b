/** Describes entries of a diff. */
import type { Entry, FieldDocument, LogEvent, SchemaDiff } from '../../service/types.js';
import { KIND_NAMES, messages } from './messages.js';
import { typeText, visibleSql } from '../text.js';

export interface Change {
  /** The part of the schema. `collections` is the collection itself. */
  part: 'collections' | 'fields' | 'relations' | 'objects';
  /** The name of the collection or view. */
  collection: string;
  field: string | null;
  /** The kind of a view or other object: `materialized_view`. Null for collections, fields and relations. */
  kind: string | null;
  /** The effect of the change. `restored` means restored from the trash. */
  mark: 'made' | 'restored' | 'changed' | 'removed';
  /** The type of a created or deleted field, with its column type if that differs. */
  type: string | null;
  /** Changed members with their values before and after. */
  members: { path: string; before: unknown; after: unknown }[];
}

const PARTS = ['collections', 'fields', 'relations', 'objects'] as const;

/** Objects restored from the trash: collections by name, fields as `collection\0field`. */
export type RestoredKeys = ReadonlySet<string>;

const CREATED: ReadonlySet<string> = new Set(['collection.created', 'field.created']);

/** Returns the objects that their creating event restored. May be empty. */
export function restoredKeys(
  events: readonly Pick<LogEvent, 'type' | 'collection' | 'field' | 'subject' | 'data'>[],
): RestoredKeys {
  const back = events.filter(({ type, subject }) => CREATED.has(type) && subject?.kind === 'trash');
  return new Set(back.flatMap(({ collection, field, data }) => keysOf(collection ?? '', field, data)));
}

/** A collection is restored with its fields. */
function keysOf(collection: string, field: string | null, data: unknown): string[] {
  const { fields = [] } = data as { fields?: { field: string }[] };
  return [keyOf(collection, field), ...fields.map((each) => keyOf(collection, each.field))];
}

const keyOf = (collection: string, field: string | null): string =>
  field === null ? collection : `${collection}\0${field}`;

const NOTHING: RestoredKeys = new Set();

/** Returns one change per document that differs, in the order of the diff. */
export function changesOf(diff: Partial<SchemaDiff>, restored = NOTHING): Change[] {
  return PARTS.flatMap((part) =>
    (diff[part] ?? []).map((item) => {
      const field = 'field' in item ? item.field : null;
      const named =
        'id' in item ? { collection: item.id, kind: item.kind } : { collection: item.collection, kind: null };
      const change: Change = { part, ...named, field, ...changeBy(item.diff) };
      return isRestored(change, restored) ? { ...change, mark: 'restored' } : change;
    }),
  );
}

/** True if the object was restored. Relations are always created again. */
const isRestored = ({ part, collection, field, mark }: Change, restored: RestoredKeys): boolean =>
  mark === 'made' && part !== 'relations' && part !== 'objects' && restored.has(keyOf(collection, field));

/** A single entry without a path is a whole document that was created or removed. */
function changeBy(entries: readonly Entry[]): Pick<Change, 'mark' | 'type' | 'members'> {
  const [first] = entries;
  if (first !== undefined && first.path === undefined) {
    const isNew = first.kind === 'N';
    const document = sideOf(first, isNew ? 'rhs' : 'lhs');
    return { mark: isNew ? 'made' : 'removed', type: fieldType(document), members: [] };
  }
  return { mark: 'changed', type: null, members: entries.map(memberOf) };
}

/** `string · character varying(255)`; null for a collection or relation. */
function fieldType(document: unknown): string | null {
  const { type, schema } = (document ?? {}) as Partial<FieldDocument>;
  if (typeof type !== 'string') return null;
  const column = schema == null ? null : typeText(schema);
  return column === null || column === type ? type : `${type} · ${column}`;
}

const sideOf = (of: object, name: 'lhs' | 'rhs'): unknown => (of as { lhs?: unknown; rhs?: unknown })[name];

function memberOf(entry: Entry): Change['members'][number] {
  const path = (entry.path ?? []).join('.');
  if (entry.kind !== 'A') return { path, before: sideOf(entry, 'lhs'), after: sideOf(entry, 'rhs') };
  return { path: `${path}.${entry.index}`, before: sideOf(entry.item, 'lhs'), after: sideOf(entry.item, 'rhs') };
}

/** `field articles.title` */
export const titleOf = ({
  part,
  collection,
  field,
  kind,
}: Pick<Change, 'part' | 'collection' | 'field' | 'kind'>): string =>
  part === 'objects'
    ? objectTitle({ kind: kind ?? '', id: collection })
    : `${messages.parts[part]} ${field === null ? collection : `${collection}.${field}`}`;

/** `materialized view totals` */
export const objectTitle = ({ kind, id }: { kind: string; id: string }): string =>
  `${KIND_NAMES[kind] ?? kind.replaceAll('_', ' ')} ${id}`;

/** A value for display: text without quotes, everything else as JSON. Hidden characters are escaped. */
export function valueText(value: unknown): string {
  if (value === undefined) return messages.noValue;
  return visibleSql(typeof value === 'string' ? value : JSON.stringify(value));
}
