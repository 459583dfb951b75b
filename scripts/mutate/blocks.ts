/** The blocks of a source file. Coverage records which of them run. */
import { type Node, childAt, walk } from './ast.js';

/** Start and end of a block in the current file. */
export interface Block {
  start: number;
  end: number;
}

type CodeBlock = Block & { kind: 'braces' | 'statement' | 'expression' };

/**
 * Blocks that can run independently, by their start: every block in braces, an arrow's expression, a branch of `if`
 * without braces, either side of `?:`, the right side of `&&`, `||` and `??`.
 */
export function blocksOf(file: string, source: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const note = (node: Node | undefined, kind: CodeBlock['kind']): void => {
    if (node === undefined) return;
    const at = kind === 'expression' ? expressionIn(source, node) : { start: node.start, end: node.end };
    blocks.push({ start: at.start, end: at.end, kind });
  };
  walk(file, source, (node) => {
    if (inBraces(node, source)) note(node, 'braces');
    for (const [member, kind] of BRANCHES[node.type] ?? []) {
      const child = childAt(node, member);
      if (child !== undefined && !inBraces(child, source)) note(child, kind);
    }
    return true;
  });
  return blocks.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

const BRANCHES: Readonly<Record<string, readonly (readonly [member: string, kind: CodeBlock['kind']])[]>> = {
  ArrowFunctionExpression: [['body', 'expression']],
  ConditionalExpression: [
    ['consequent', 'expression'],
    ['alternate', 'expression'],
  ],
  IfStatement: [
    ['consequent', 'statement'],
    ['alternate', 'statement'],
  ],
  LogicalExpression: [['right', 'expression']],
};

const inBraces = (node: Node, source: string): boolean =>
  node.type === 'BlockStatement' || (node.type === 'FunctionBody' && source[node.start] === '{');

/** The number of the innermost block around a location, or undefined outside every function. */
export function blockAt(blocks: readonly Block[], place: number): number | undefined {
  const inside = blocks.flatMap(({ start, end }, index) => (start <= place && place < end ? [index] : []));
  return inside.at(-1);
}

/** The source with a call in every block: `hit(file#number)`, imported from `recorder`, a file URL. */
export function instrumented(file: string, source: string, recorder: string): string {
  const insertions = blocksOf(file, source).flatMap(({ start, end, kind }, index) => {
    const call = `$hit(${JSON.stringify(`${file}#${index}`)})`;
    if (kind === 'braces') return [{ at: start + 1, text: `${call};` }];
    const [before, after] = kind === 'statement' ? [`{${call};`, '}'] : [`(${call}, `, ')'];
    return [
      { at: start, text: before },
      { at: end, text: after },
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

/** An expression with its parentheses, which the tree omits. */
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
