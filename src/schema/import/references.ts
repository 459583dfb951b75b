/** Sets names in `meta` that reference nothing, or form a cycle, to null. Directus allows them. */
import { isFolder } from './collections.js';
import type { Import, Place } from './context.js';
import { hasCollection, hasField, isSystem, quotedPath, warn } from './reading.js';
import { isAlias } from './target-instance.js';

/** Fixes `group`, `archive_field` and `sort_field` of collections and `group` of fields. */
export function resolveReferences(into: Import): void {
  for (const { collection, meta } of into.collections.values()) {
    const isField = (name: string) => !isFolder(collection, into) && hasField(collection, name, into);
    const owner = { meta, place: { collection } };
    resolve(owner, 'group', into, (name) => !isSystem(name, into) && hasCollection(name, into));
    resolve(owner, 'archive_field', into, isField);
    resolve(owner, 'sort_field', into, isField);
  }
  breakCycles(into.collections, (collection) => ({ collection }), into);
  for (const [collection, fields] of into.fields) {
    for (const { field, meta } of fields.values()) {
      resolve({ meta, place: { collection, field } }, 'group', into, (name) => canGroup(collection, name, into));
    }
    breakCycles(fields, (field) => ({ collection, field }), into);
  }
}

/** Only alias fields group others. */
function canGroup(collection: string, name: string, into: Import): boolean {
  const document = into.fields.get(collection)?.get(name);
  return document === undefined ? hasField(collection, name, into) : isAlias(document, into) !== false;
}

interface Owner {
  meta: Record<string, unknown> | undefined;
  place: Place;
}

function resolve({ meta, place }: Owner, member: string, into: Import, isThere: (name: string) => boolean): void {
  const name = meta?.[member];
  if (meta === undefined || typeof name !== 'string' || isThere(name)) return;
  meta[member] = null;
  warnOfReference(into, place, `meta.${member}`, `names ${quotedPath(name)}, which is not among those kept`);
}

function warnOfReference(into: Import, place: Place, member: string, reason: string): void {
  const owner = quotedPath(...[place.collection, place.field].filter((name) => name !== undefined));
  warn(into, 'REFERENCE_LEFT_OUT', place, `${member} of ${owner} ${reason}; it becomes null.`);
}

interface Grouped {
  meta?: Record<string, unknown>;
}

/** Breaks each cycle of groups at its first document in the file. */
function breakCycles(documents: ReadonlyMap<string, Grouped>, placeOf: (name: string) => Place, into: Import): void {
  const visited = new Set<string>();
  for (const name of documents.keys()) {
    const closing = closingGroup(name, documents, visited);
    const meta = closing === undefined ? undefined : documents.get(closing)?.meta;
    if (closing === undefined || meta === undefined) continue;
    meta['group'] = null;
    warnOfReference(into, placeOf(closing), 'meta.group', 'leads back to itself');
  }
}

/** Returns the first document that the walk up from `name` visits twice. Visited documents are not walked again. */
function closingGroup(name: string, documents: ReadonlyMap<string, Grouped>, visited: Set<string>): string | undefined {
  const way = new Set<string>();
  let at: string | undefined = name;
  while (at !== undefined && !visited.has(at) && !way.has(at)) {
    way.add(at);
    at = groupOf(at, documents);
  }
  for (const passed of way) visited.add(passed);
  return at !== undefined && way.has(at) ? at : undefined;
}

function groupOf(name: string, documents: ReadonlyMap<string, Grouped>): string | undefined {
  const group = documents.get(name)?.meta?.['group'];
  return typeof group === 'string' ? group : undefined;
}
