import type { Collection } from '../../../schema/model/model.js';
import type { Drafted } from '../../draft/drafted.js';
import type { DraftEditor } from '../../draft/editor.js';
import type { ListedCollection } from '../../service/types.js';
import type { Mark } from './graph/mark.js';
import { treeOf } from './tree-model.js';

/** A rename is a change. */
export const draftMarks = (drafted: readonly Drafted<Collection>[]): ReadonlyMap<string, Mark> =>
  new Map(
    drafted.flatMap(({ document, how }) =>
      how === undefined ? [] : [[document.collection, how === 'renamed' ? 'changed' : how]],
    ),
  );

/** Moves a collection among its siblings. Changes as few numbers as possible. */
export const moving =
  (collections: readonly ListedCollection[], { collection: name }: ListedCollection, to: number) =>
  (editor: DraftEditor): void => {
    const order = siblingsOf(collections, name);
    if (to < 0 || to >= order.length) return;
    order.splice(order.indexOf(name), 1);
    order.splice(to, 0, name);
    for (const [index, each] of order.entries()) {
      const now = editor.collection(each);
      if (now !== undefined && now.meta.sort !== index + 1)
        editor.put('collections', { ...now, meta: { ...now.meta, sort: index + 1 } });
    }
  };

function siblingsOf(collections: readonly ListedCollection[], name: string): string[] {
  const levels = [treeOf(collections)];
  for (const level of levels) {
    const names = level.map(({ collection }) => collection.collection);
    if (names.includes(name)) return names;
    for (const { children } of level) if (children.length > 0) levels.push(children);
  }
  return [];
}
