/**
 * Code outside every function runs when its file loads. Only the code that uses its declarations can reveal a change.
 */
import { type Node, childAt, walk } from './ast.js';
import { type Block, blockAt } from './blocks.js';

export interface Uses {
  /** The declaration around the location, and those declared together with it. */
  names: ReadonlySet<string>;
  /** The numbers of the file's blocks that mention any of them. */
  blocks: ReadonlySet<number>;
}

type Name = Block & { name: string };

/** The users of the declaration around `place`, directly or through other top-level declarations of the file. */
export function usesOf(file: string, source: string, blocks: readonly Block[], place: number): Uses {
  const { declared, mentioned } = namesIn(file, source);
  const lines = new Set<number>();
  const names = new Set<string>();
  const follow = (at: number): void => {
    const around = declared.find(({ start, end }) => start <= at && at < end);
    if (around === undefined || names.has(around.name)) return;
    names.add(around.name);
    for (const { name, start } of mentioned) {
      if (name !== around.name || (around.start <= start && start < around.end)) continue;
      const block = blockAt(blocks, start);
      if (block === undefined) follow(start);
      else lines.add(block);
    }
  };
  follow(place);
  return { names, blocks: lines };
}

/** The numbers of the blocks that mention one of the names, in a file that imports them. */
export function blocksMentioning(
  file: string,
  source: string,
  blocks: readonly Block[],
  names: ReadonlySet<string>,
): number[] {
  const { mentioned } = namesIn(file, source);
  const uses = mentioned.filter(({ name }) => names.has(name)).map(({ start }) => blockAt(blocks, start));
  return [...new Set(uses.filter((block) => block !== undefined))];
}

function namesIn(file: string, source: string): { declared: Name[]; mentioned: Name[] } {
  const declared: Name[] = [];
  const mentioned: Name[] = [];
  const note = (to: Name[], named: Node | undefined, { start, end }: Node): void => {
    const name = named?.['name'];
    if (typeof name === 'string') to.push({ name, start, end });
  };
  walk(file, source, (node, parent) => {
    if (node.type === 'VariableDeclarator') note(declared, childAt(node, 'id'), node);
    if (node.type === 'Identifier' && !isMember(node, parent)) note(mentioned, node, node);
    return true;
  });
  return { declared, mentioned };
}

/** `name` in `object.name` and in `{ name: value }` is another name. */
function isMember(node: Node, parent: Node | undefined): boolean {
  if (parent?.type === 'MemberExpression') return parent['property'] === node && parent['computed'] !== true;
  return parent?.type === 'Property' && parent['key'] === node && parent['shorthand'] !== true;
}
