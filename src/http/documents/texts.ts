import { type Texts, bytes } from '../../kernel/bytes.js';
import type { Resumable } from '../../kernel/resumable.js';
import { createAttachment } from '../../kernel/attachment.js';
import { createRenderings } from '../../schema/snapshot/collection-cache.js';
import { collectionDocumentOf } from '../../schema/snapshot/documents.js';
import { type CollectionNode, type State, byName } from '../../schema/model/state.js';
import { createTableSql, hasForeignKey, primaryKeyColumns } from '../../projector/ddl/create-table.js';
import { nameOwnSchema } from '../../postgres/own-tables.js';
import type { CollectionDocument, HttpDeps } from '../deps.js';

/*
 * Renders collections as JSON text for `/collections`. Each text is cached until its collection changes, so a list of
 * thousands after one change renders one collection.
 */

export interface CollectionTexts {
  findText(state: State, name: string): string | undefined;
  /** Yields every collection by name, including the system collections for which `isShown` is true. */
  all(state: State, isShown?: (system: string) => boolean): Texts;
  /** Returns the same JSON as bytes, which are cached as well. */
  pieces(state: State): Resumable<Buffer[]>;
}

interface CachedText {
  text: string;
  targets: (CollectionNode | undefined)[];
  /** The primary keys of `targets`. The text contains nothing else about them. */
  keys: string;
}

type SqlSchemas = Pick<HttpDeps['config'], 'schema' | 'serviceSchema'>;

/** Creates the texts. Each text is cached by its collection and freed together with it. */
export function createCollectionTexts(
  sqlPlace: SqlSchemas,
  systemCollections: readonly CollectionDocument[],
): CollectionTexts {
  const system = new Map(systemCollections.map((document) => [document.collection, JSON.stringify(document)]));
  const textsByNode = createAttachment<CollectionNode, CachedText>();
  const namesOf = createNameOrder(new Set(system.keys()));

  function cachedText(state: State, node: CollectionNode): CachedText {
    const targets = targetsOf(state, node);
    const cachedEntry = textsByNode.get(node);
    // The relations of a node never change, so the two lists have the same length.
    if (cachedEntry?.targets.every((target, index) => target === targets[index])) return cachedEntry;
    const keys = JSON.stringify(targets.map(primaryKeyColumns));
    if (cachedEntry !== undefined && cachedEntry.keys === keys) {
      cachedEntry.targets = targets;
      return cachedEntry;
    }
    const cached = { text: JSON.stringify(documentOf(state, node, sqlPlace)), targets, keys };
    textsByNode.set(node, cached);
    return cached;
  }

  const systemBytes = [...system].map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
  // The last name comes first, so that inserting one does not change the indexes of the others.
  systemBytes.sort((a, b) => byName(b.name, a.name));
  const renderings = createRenderings((state, node) => bytes([cachedText(state, node).text]));

  function one(state: State, name: string): string | undefined {
    const node = state.collections.get(name);
    return node === undefined ? system.get(name) : cachedText(state, node).text;
  }

  return {
    findText: one,
    *all(state, isShown = () => true) {
      for (const name of namesOf(state)) {
        const text = one(state, name);
        if (text !== undefined && (state.collections.has(name) || isShown(name))) yield text;
      }
    },
    *pieces(state) {
      const { names, rendered } = yield* renderings(state);
      const pieces = [...rendered];
      for (const { name, bytes } of systemBytes) pieces.splice(indexIn(names, name), 0, bytes);
      return pieces;
    },
  };
}

/** Returns the index at which `name` belongs in sorted names. */
function indexIn(names: readonly string[], name: string): number {
  const index = names.findIndex((each) => byName(each, name) > 0);
  return index === -1 ? names.length : index;
}

/** Returns a managed collection in API format. */
export function documentOf(state: State, node: CollectionNode, sqlPlace: SqlSchemas): CollectionDocument {
  const { collection, meta, schema } = collectionDocumentOf(state, node);
  if (schema === null) return { collection, meta, schema };
  const sql = nameOwnSchema(createTableSql(node, state, sqlPlace.schema) ?? '', sqlPlace.serviceSchema);
  const place = schema.schema === undefined ? {} : { schema: schema.schema };
  return { collection, meta, schema: { name: schema.name, ...place, sql, comment: schema.comment } };
}

function targetsOf(state: State, node: CollectionNode): (CollectionNode | undefined)[] {
  return [...node.relations.values()]
    .filter(hasForeignKey)
    .map(({ one_collection }) => state.collections.get(one_collection));
}

/**
 * Keeps the sorted names, because sorting thousands of names is a large part of a list's cost, and few names differ
 * between states.
 */
function createNameOrder(system: ReadonlySet<string>): (state: State) => readonly string[] {
  let last: readonly string[] = [...system].sort(byName);
  return ({ collections }) => {
    const there = last.filter((name) => collections.has(name) || system.has(name));
    if (there.length === collections.size + system.size) return (last = there);
    const kept = new Set(there);
    const added = [...collections.keys()].filter((name) => !kept.has(name));
    return (last = [...there, ...added].sort(byName));
  };
}
