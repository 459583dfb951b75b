/** The parts of a snapshot file that belong to a collection. Pure. */
import { isObject } from '../../../../kernel/json.js';

const PARTS = ['collections', 'fields', 'relations'] as const;

type Problem = { extensions: { path?: string | undefined; collection?: string | undefined } };

/** @returns the names of the collections that the problems concern; null where one of them concerns the whole file */
export function failingCollections(problems: readonly Problem[], document: unknown): string[] | null {
  const found = new Set<string>();
  for (const { extensions } of problems) {
    const name = extensions.collection ?? collectionAt(extensions.path ?? '', document);
    if (name === undefined) return null;
    found.add(name);
  }
  return [...found];
}

function collectionAt(path: string, document: unknown): string | undefined {
  const [, part = '', index = ''] = /^(?:theirs\.|data\.)?(\w+)\[(\d+)\]/.exec(path) ?? [];
  const list = snapshotOf(document)[part];
  return Array.isArray(list) ? collectionOf(list[Number(index)]) : undefined;
}

/** The document without the collections, their fields and the relations that they hold. */
export function withoutCollections(document: unknown, names: ReadonlySet<string>): unknown {
  const snapshot = snapshotOf(document);
  const lists = PARTS.filter((part) => Array.isArray(snapshot[part])).map((part) => [
    part,
    (snapshot[part] as unknown[]).filter((each) => !names.has(collectionOf(each) ?? '')),
  ]);
  return { ...snapshot, ...(Object.fromEntries(lists) as object) };
}

/** Clients of Directus send the snapshot inside `data`. */
function snapshotOf(document: unknown): Record<string, unknown> {
  if (!isObject(document)) return {};
  return isObject(document['data']) ? document['data'] : document;
}

function collectionOf(each: unknown): string | undefined {
  if (!isObject(each)) return undefined;
  const name = each['collection'] ?? each['many_collection'];
  return typeof name === 'string' ? name : undefined;
}
