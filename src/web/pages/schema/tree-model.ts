import type { DraftEditor } from '../../draft/editor.js';
import type { ListedCollection } from '../../service/types.js';
import type { DropTarget } from '../../shared/drag-and-drop.js';

interface TreeNode {
  collection: ListedCollection;
  /** Ordered by `sort`, then by name. */
  children: TreeNode[];
}

/** A rendered row of the tree. */
export interface TreeRow {
  node: TreeNode;
  /** The level, starting at 1 for a root. */
  level: number;
  /** The index among the siblings, starting at 1, and the number of siblings. */
  place: number;
  of: number;
  /** True if the row is expanded. Undefined without children. */
  open: boolean | undefined;
  /** True if the row cannot be collapsed. */
  locked: boolean;
}

/** A collection with a missing or circular group is a root. */
export function treeOf(collections: readonly ListedCollection[]): TreeNode[] {
  const nodes = new Map<string, TreeNode>(
    collections.map((collection) => [collection.collection, { collection, children: [] }]),
  );
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.collection.meta.group ?? '');
    (parent === undefined || isBelow(parent, node, nodes) ? roots : parent.children).push(node);
  }
  for (const node of nodes.values()) node.children.sort(compareNodes);
  return roots.sort(compareNodes);
}

function isBelow(node: TreeNode, above: TreeNode, nodes: ReadonlyMap<string, TreeNode>): boolean {
  const visited = new Set<TreeNode>();
  for (let at: TreeNode | undefined = node; at !== undefined; at = nodes.get(at.collection.meta.group ?? '')) {
    if (at === above) return true;
    if (visited.has(at)) return false;
    visited.add(at);
  }
  return false;
}

function compareNodes({ collection: one }: TreeNode, { collection: other }: TreeNode): number {
  const by = (one.meta.sort ?? Infinity) - (other.meta.sort ?? Infinity);
  if (by !== 0 && !Number.isNaN(by)) return by;
  return one.collection < other.collection ? -1 : 1;
}

/** The names of a collection and of all collections below it. */
export const namesBelow = ({ collection, children }: TreeNode): string[] => [
  collection.collection,
  ...children.flatMap(namesBelow),
];

/** Returns the node of a collection. */
export function findNode(nodes: readonly TreeNode[], name: string): TreeNode | undefined {
  for (const node of nodes) {
    const found = node.collection.collection === name ? node : findNode(node.children, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface TreeOptions {
  /** True to include hidden collections. */
  hidden: boolean;
  toggled: ReadonlyMap<string, boolean>;
  /** Keeps only matching names and their ancestors. An empty filter keeps all. */
  filter: string;
  nameOf: (collection: ListedCollection) => string;
}

/** The visible rows in order. */
export function rowsOf(roots: readonly TreeNode[], shown: TreeOptions): TreeRow[] {
  const rows: TreeRow[] = [];
  const needle = shown.filter.toLowerCase();
  const isVisible = (node: TreeNode): boolean => {
    const { collection } = node;
    if (collection.meta.hidden && !shown.hidden) return false;
    if (needle === '') return true;
    const names = `${collection.collection} ${shown.nameOf(collection)}`.toLowerCase();
    return names.includes(needle) || node.children.some(isVisible);
  };
  const add = (nodes: readonly TreeNode[], level: number): void => {
    const visible = nodes.filter(isVisible);
    for (const [index, node] of visible.entries()) {
      const children = node.children.filter(isVisible);
      const locked = node.collection.meta.collapse === 'locked';
      const isOpen =
        needle !== '' ||
        locked ||
        (shown.toggled.get(node.collection.collection) ?? node.collection.meta.collapse !== 'closed');
      const open = children.length === 0 ? undefined : isOpen;
      rows.push({ node, level, place: index + 1, of: visible.length, open, locked });
      if (open === true) add(children, level + 1);
    }
  };
  add(roots, 1);
  return rows;
}

/** Returns the translated names. `translations` is an object by language or, as in Directus, a list of entries. */
function namesOf({ meta }: ListedCollection): [language: string, name: string][] {
  const translations: unknown = meta.translations;
  if (typeof translations !== 'object' || translations === null) return [];
  const entries: [unknown, unknown][] = Array.isArray(translations)
    ? translations.map((each: { language?: unknown; translation?: unknown } | null) => [
        each?.language,
        each?.translation,
      ])
    : Object.entries(translations);
  return entries.filter(
    (entry): entry is [string, string] =>
      typeof entry[0] === 'string' && typeof entry[1] === 'string' && entry[1] !== '',
  );
}

/** All languages of collection names. */
export function languagesOf(collections: readonly ListedCollection[]): string[] {
  return [...new Set(collections.flatMap((collection) => namesOf(collection).map(([language]) => language)))].sort();
}

/** Returns the translated name, or the name of the collection. */
export function nameIn(language: string | undefined, collection: ListedCollection): string {
  if (language === undefined) return collection.collection;
  return namesOf(collection).find(([each]) => each === language)?.[1] ?? collection.collection;
}

/* Moves collections in the tree. */

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

/** Returns the names of the collections that can contain others, without `moved` and those below them. */
export function namesOfGroups(nodes: readonly TreeNode[], moved: ReadonlySet<string>): string[] {
  const left = nodes.filter(({ collection }) => !moved.has(collection.collection));
  const names = left.filter(canContain).map(({ collection }) => collection.collection);
  return [...names, ...left.flatMap(({ children }) => namesOfGroups(children, moved))].sort();
}

export const nameOf = ({ node }: TreeRow): string => node.collection.collection;

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
