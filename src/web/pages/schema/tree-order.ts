/** Moves collections in the tree. */
import type { DraftEditor } from '../../draft/editor.js';
import type { ListedCollection } from '../../service/types.js';
import type { DropTarget } from '../../shared/drag-and-drop.js';
import { type TreeNode, type TreeRow, findNode, namesBelow, treeOf } from './tree-model.js';

/**
 * Returns an edit that moves a collection before, after or into another one, and changes as few `sort` values as
 * possible. A collection cannot be moved into itself or below itself.
 */
export const moveCollection =
  (collections: readonly ListedCollection[], name: string, target: DropTarget) =>
  (editor: DraftEditor): void => {
    const roots = treeOf(collections);
    const moved = findNode(roots, name);
    if (moved === undefined || namesBelow(moved).includes(target.name)) return;
    const parent = target.side === 'into' ? findNode(roots, target.name) : parentOf(roots, target.name);
    const group = parent?.collection.collection ?? null;
    for (const [index, each] of orderAfter(parent?.children ?? roots, name, target).entries())
      place(editor, each, { sort: index + 1, ...(each === name && { group }) });
  };

/** Returns the names of the siblings in their new order. */
function orderAfter(siblings: readonly TreeNode[], name: string, { name: target, side }: DropTarget): string[] {
  const order = siblings.map(({ collection }) => collection.collection).filter((each) => each !== name);
  const index = side === 'into' ? order.length : order.indexOf(target) + (side === 'after' ? 1 : 0);
  return order.toSpliced(index, 0, name);
}

function place(editor: DraftEditor, name: string, position: { sort: number; group?: string | null }): void {
  const now = editor.collection(name);
  if (now === undefined) return;
  const meta = { ...now.meta, ...position };
  if (meta.sort !== now.meta.sort || meta.group !== now.meta.group) editor.put('collections', { ...now, meta });
}

function parentOf(nodes: readonly TreeNode[], name: string): TreeNode | undefined {
  for (const node of nodes) {
    if (node.children.some(({ collection }) => collection.collection === name)) return node;
    const below = parentOf(node.children, name);
    if (below !== undefined) return below;
  }
  return undefined;
}

/** True for folders and for collections that contain others. */
export const canContain = ({ collection, children }: TreeNode): boolean =>
  collection.schema === null || children.length > 0;

const nameOf = ({ node }: TreeRow): string => node.collection.collection;

const siblingBefore = (rows: readonly TreeRow[], at: number, { level, place: index }: TreeRow): TreeRow | undefined =>
  index === 1 ? undefined : rows.findLast((each, other) => other < at && each.level === level);

const siblingAfter = (rows: readonly TreeRow[], at: number, row: TreeRow): TreeRow | undefined =>
  row.place === row.of ? undefined : rows.find(({ level }, other) => other > at && level === row.level);

const rowAbove = (rows: readonly TreeRow[], at: number, row: TreeRow): TreeRow | undefined =>
  rows.findLast(({ level }, other) => other < at && level < row.level);

function folderBefore(rows: readonly TreeRow[], at: number, row: TreeRow): TreeRow | undefined {
  const sibling = siblingBefore(rows, at, row);
  return sibling !== undefined && canContain(sibling.node) ? sibling : undefined;
}

const KEYS: Readonly<Record<string, { target: typeof rowAbove; side: DropTarget['side'] }>> = {
  ArrowUp: { target: siblingBefore, side: 'before' },
  ArrowDown: { target: siblingAfter, side: 'after' },
  ArrowRight: { target: folderBefore, side: 'into' },
  ArrowLeft: { target: rowAbove, side: 'after' },
};

/** Returns the target of Alt with an arrow key, or undefined if the row cannot move there. */
export function keyboardTarget(rows: readonly TreeRow[], at: number, key: string): DropTarget | undefined {
  const [row, move] = [rows[at], KEYS[key]];
  const target = row && move?.target(rows, at, row);
  return target && move && { name: nameOf(target), side: move.side };
}
