/** The tree of collections as their metadata says: groups, order, hidden, collapse, names by language. */
import type { ListedCollection } from '../../service/types.js';

export interface TreeNode {
  collection: ListedCollection;
  /** In the order of `sort`, then of names. */
  children: TreeNode[];
}

/** One line of the tree, as it is drawn. */
export interface TreeRow {
  node: TreeNode;
  /** 1 for a root. */
  level: number;
  /** Place among its siblings, from 1, and how many they are. */
  place: number;
  of: number;
  /** Undefined: it has no children. */
  open: boolean | undefined;
  /** It can't be closed. */
  locked: boolean;
}

/** A collection whose group isn't there, or is among its own children, stands at the top. */
export function treeOf(collections: readonly ListedCollection[]): TreeNode[] {
  const nodes = new Map<string, TreeNode>(
    collections.map((collection) => [collection.collection, { collection, children: [] }]),
  );
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.collection.meta.group ?? '');
    (parent === undefined || isBelow(parent, node, nodes) ? roots : parent.children).push(node);
  }
  for (const node of nodes.values()) node.children.sort(inOrder);
  return roots.sort(inOrder);
}

function isBelow(node: TreeNode, above: TreeNode, nodes: ReadonlyMap<string, TreeNode>): boolean {
  const seen = new Set<TreeNode>();
  for (let at: TreeNode | undefined = node; at !== undefined; at = nodes.get(at.collection.meta.group ?? '')) {
    if (at === above) return true;
    if (seen.has(at)) return false;
    seen.add(at);
  }
  return false;
}

function inOrder({ collection: one }: TreeNode, { collection: other }: TreeNode): number {
  const by = (one.meta.sort ?? Infinity) - (other.meta.sort ?? Infinity);
  if (by !== 0 && !Number.isNaN(by)) return by;
  return one.collection < other.collection ? -1 : 1;
}

export interface Shown {
  /** Hidden collections as well. */
  hidden: boolean;
  /** What the user has opened (true) and closed (false); the metadata decides about the rest. */
  toggled: ReadonlyMap<string, boolean>;
  /** Only names that hold this, and what is above them; empty: all. */
  filter: string;
  nameOf: (collection: ListedCollection) => string;
}

/** The lines that are to be seen, from the top. */
export function rowsOf(roots: readonly TreeNode[], shown: Shown): TreeRow[] {
  const rows: TreeRow[] = [];
  const wanted = shown.filter.toLowerCase();
  const isVisible = (node: TreeNode): boolean => {
    const { collection } = node;
    if (collection.meta.hidden && !shown.hidden) return false;
    if (wanted === '') return true;
    const names = `${collection.collection} ${shown.nameOf(collection)}`.toLowerCase();
    return names.includes(wanted) || node.children.some(isVisible);
  };
  const add = (nodes: readonly TreeNode[], level: number): void => {
    const visible = nodes.filter(isVisible);
    for (const [index, node] of visible.entries()) {
      const children = node.children.filter(isVisible);
      const locked = node.collection.meta.collapse === 'locked';
      const isOpen =
        wanted !== '' ||
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

/** `translations` holds names by language, or a list of entries, as the peer writes it. */
function namesOf({ meta }: ListedCollection): [language: string, name: string][] {
  const given: unknown = meta.translations;
  if (typeof given !== 'object' || given === null) return [];
  const entries: [unknown, unknown][] = Array.isArray(given)
    ? given.map((each: { language?: unknown; translation?: unknown } | null) => [each?.language, each?.translation])
    : Object.entries(given);
  return entries.filter(
    (entry): entry is [string, string] =>
      typeof entry[0] === 'string' && typeof entry[1] === 'string' && entry[1] !== '',
  );
}

/** Every language that a collection is named in. */
export function languagesOf(collections: readonly ListedCollection[]): string[] {
  return [...new Set(collections.flatMap((collection) => namesOf(collection).map(([language]) => language)))].sort();
}

/** In a language; by its own name where it has none there. */
export function nameIn(language: string | undefined, collection: ListedCollection): string {
  if (language === undefined) return collection.collection;
  return namesOf(collection).find(([each]) => each === language)?.[1] ?? collection.collection;
}
