/** The blocks of a source file, each of which tells when it is run: what the coverage is taken of. */
import { type Node, childAt, walk } from './ast.js';

/** From where to where a block goes, in the file as it stands. */
export interface Block {
  start: number;
  end: number;
}

type CodeBlock = Block & { kind: 'braces' | 'statement' | 'expression' };

/**
 * What may run while its neighbour doesn't, in the order of where they start: every block in braces, an arrow's
 * expression, what an `if` leads to without braces, either side of a `?`, the right side of `&&`, `||` and `??`.
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

/** The number of the innermost block around a place, or undefined where it is outside of every function. */
export function blockAt(blocks: readonly Block[], place: number): number | undefined {
  const inside = blocks.flatMap(({ start, end }, index) => (start <= place && place < end ? [index] : []));
  return inside.at(-1);
}

/** The source with a call in every block: `hit(file#number)`, of the module at `recorder`, a file URL. */
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

/** An expression with the parentheses around it, which the tree leaves out. */
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
