/** The blocks of a source file, each of which tells when it is run: what the coverage is taken of. */
import { childAt, walk } from './ast.js';

/** From where to where a block goes, in the file as it stands. */
export interface Block {
  start: number;
  end: number;
}

/** Every block in braces and every arrow's expression, in the order of where they start. */
export function blocksOf(file: string, source: string): (Block & { braces: boolean })[] {
  const blocks: (Block & { braces: boolean })[] = [];
  walk(file, source, (node) => {
    const arrow = node.type === 'ArrowFunctionExpression' ? childAt(node, 'body') : undefined;
    if (node.type === 'BlockStatement' || (node.type === 'FunctionBody' && source[node.start] === '{')) {
      blocks.push({ start: node.start, end: node.end, braces: true });
    } else if (arrow !== undefined && source[arrow.start] !== '{') {
      blocks.push({ ...expressionIn(source, arrow), braces: false });
    }
    return true;
  });
  return blocks.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

/** The number of the innermost block around a place, or undefined where it is outside of every function. */
export function blockAt(blocks: readonly Block[], place: number): number | undefined {
  const inside = blocks.flatMap(({ start, end }, index) => (start <= place && place < end ? [index] : []));
  return inside.at(-1);
}

/** The source with a call in every block: `hit(file#number)`, of the module at `recorder`, a file URL. */
export function instrumented(file: string, source: string, recorder: string): string {
  const insertions = blocksOf(file, source).flatMap(({ start, end, braces }, index) => {
    const call = `$hit(${JSON.stringify(`${file}#${index}`)})`;
    return braces
      ? [{ at: start + 1, text: `${call};` }]
      : [
          { at: start, text: `(${call}, ` },
          { at: end, text: ')' },
        ];
  });
  let text = source;
  for (const { at, text: inserted } of insertions.toSorted((a, b) => b.at - a.at)) {
    text = text.slice(0, at) + inserted + text.slice(at);
  }
  const head = `import { hit as $hit } from ${JSON.stringify(recorder)}; `;
  const shebang = /^#!.*\n/.exec(text)?.[0] ?? '';
  return shebang + head + text.slice(shebang.length);
}

/** An arrow's expression with the parentheses around it, which the tree leaves out. */
function expressionIn(source: string, node: Block): Block {
  let { start, end } = node;
  const before = (place: number): number => source.slice(0, place).trimEnd().length;
  const after = (place: number): number => source.length - source.slice(place).trimStart().length;
  while (source[before(start) - 1] === '(' && source[after(end)] === ')') {
    start = before(start) - 1;
    end = after(end) + 1;
  }
  return { start, end };
}
