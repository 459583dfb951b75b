/** Walks the syntax tree of a source file without a list of node kinds. */
import { parseSync } from 'oxc-parser';

/** A node of the tree: ESTree with TypeScript's kinds. Offsets count UTF-16 units. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** The children of a node, with the member that contains each. */
export function children(node: Node): [member: string, child: Node][] {
  return Object.entries(node).flatMap(([member, value]) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).map((child): [string, Node] => [member, child]),
  );
}

/** The child in a member, if any. */
export function childAt(node: Node, member: string): Node | undefined {
  const value = node[member];
  return isNode(value) ? value : undefined;
}

/** Calls `visit` for every node of a file, parents first. If it returns false, the children are skipped. */
export function walk(file: string, source: string, visit: (node: Node, parent: Node | undefined) => boolean): void {
  const { program, errors } = parseSync(file, source);
  const first = errors[0];
  if (first !== undefined) throw new Error(`${file}: ${first.message}`);
  const go = (node: Node, parent: Node | undefined): void => {
    if (!visit(node, parent)) return;
    for (const [, child] of children(node)) go(child, node);
  };
  go(program as unknown as Node, undefined);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
