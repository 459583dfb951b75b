import { emptyTexts, type Texts } from '../../kernel/bytes.js';
import { createAttachment } from '../../kernel/attachment.js';
import { collectionDocumentOf } from '../../schema/snapshot/documents.js';
import { type CollectionNode, type State, byName } from '../../schema/model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import { sortedInSteps } from '../../kernel/sorted.js';
import { createTableSql, hasForeignKey, primaryKeyColumns } from '../../projector/ddl/create-table.js';
import { nameOwnSchema } from '../../postgres/own-tables.js';
import type { CollectionDocument, HttpDeps } from '../deps.js';

/*
 * Renders collections as JSON text for `/collections`. Each text is cached until its collection changes, so a list of
 * thousands after one change renders one collection.
 */

export interface CollectionTexts {
  one(state: State, name: string): string | undefined;
  /** Every collection, including system collections, by name. */
  all(state: State): Texts;
}

interface CachedText {
  text: string;
  targets: (CollectionNode | undefined)[];
  /** The primary keys of `targets`, which is all that the text shows of them. */
  keys: string;
}

type SqlPlace = Pick<HttpDeps['config'], 'schema' | 'serviceSchema'>;

/** Texts are cached by collection and freed with it. */
export function createCollectionTexts(
  sqlPlace: SqlPlace,
  systemCollections: readonly CollectionDocument[],
): CollectionTexts {
  const system = new Map(systemCollections.map((document) => [document.collection, JSON.stringify(document)]));
  const known = createAttachment<CollectionNode, CachedText>();
  const namesOf = createNameOrder(new Set(system.keys()));

  function textOf(state: State, node: CollectionNode): string {
    const targets = targetsOf(state, node);
    const found = known.get(node);
    // The relations of a node never change, so the lengths are always equal.
    if (found?.targets.every((target, index) => target === targets[index])) return found.text;
    const keys = JSON.stringify(targets.map(primaryKeyColumns));
    if (found !== undefined && found.keys === keys) {
      found.targets = targets;
      return found.text;
    }
    const text = JSON.stringify(documentOf(state, node, sqlPlace));
    known.set(node, { text, targets, keys });
    return text;
  }

  function one(state: State, name: string): string | undefined {
    const node = state.collections.get(name);
    return node === undefined ? system.get(name) : textOf(state, node);
  }

  return {
    one,
    *all(state) {
      for (const name of yield* emptyTexts(namesOf(state))) {
        const text = one(state, name);
        if (text !== undefined) yield text;
      }
    },
  };
}

/** A managed collection in API form. */
export function documentOf(state: State, node: CollectionNode, sqlPlace: SqlPlace): CollectionDocument {
  const { collection, meta, schema } = collectionDocumentOf(state, node);
  if (schema === null) return { collection, meta, schema };
  const sql = nameOwnSchema(createTableSql(node, state, sqlPlace.schema) ?? '', sqlPlace.serviceSchema);
  return { collection, meta, schema: { name: schema.name, sql, comment: schema.comment } };
}

function targetsOf(state: State, node: CollectionNode): (CollectionNode | undefined)[] {
  return [...node.relations.values()]
    .filter(hasForeignKey)
    .map(({ one_collection }) => state.collections.get(one_collection));
}

/** Sorting thousands of names is a large part of a list's cost, and few names change between states. */
function createNameOrder(system: ReadonlySet<string>): (state: State) => Resumable<readonly string[]> {
  let last: readonly string[] = [...system].sort(byName);
  return function* ({ collections }) {
    const there: string[] = [];
    for (const name of last) {
      if (collections.has(name) || system.has(name)) there.push(name);
      yield;
    }
    if (there.length === collections.size + system.size) return (last = there);
    const kept = new Set(there);
    for (const name of collections.keys()) {
      if (!kept.has(name)) there.push(name);
      yield;
    }
    return (last = yield* sortedInSteps(there, byName));
  };
}
