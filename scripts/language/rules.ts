/** Checks the language of a source file: how comments begin, names that say nothing, and test titles without a verb. */
import { parseSync } from 'oxc-parser';

export interface Problem {
  /** Counted from 1. */
  line: number;
  text: string;
}

/** Names of types and components that say nothing. */
const VAGUE_NAMES = new Set('How Asked Known Told Place Whole Parts Elsewhere Way Thing Given Found Wish'.split(' '));

/** Files that describe the other end of a connection, and the test of this file. */
const NETWORK = new Set([
  'src/http/deps.ts',
  'src/http/request-log.ts',
  'test/http/request-log.unit.test.ts',
  'test/language.unit.test.ts',
  'test/postgres/exchange.int.test.ts',
]);
const PEER = /\bpeers?\b|\bpeer(?=[A-Z_-])|[a-z]Peer|PEER_/g;

const DECLARATIONS = new Set([
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'ClassDeclaration',
  'FunctionDeclaration',
]);

/** A question may start with `What`. */
const CLAUSE = /^(?:Of|Whether|What(?![^.]*\?))\b/;

interface Node {
  type: string;
  start: number;
  [member: string]: unknown;
}

/** @param path from the root of the repository */
export function checkLanguage(path: string, source: string): Problem[] {
  const { program, comments } = parseSync(path, source);
  const problems: Problem[] = [];
  const add = (offset: number, text: string): void => {
    problems.push({ line: source.slice(0, offset).split('\n').length, text });
  };
  let end = -1;
  for (const comment of comments) {
    // Consecutive line comments are one text.
    const isContinued = comment.type === 'Line' && end >= 0 && /^\s*$/.test(source.slice(end, comment.start));
    end = comment.type === 'Line' ? comment.end : -1;
    const [word] = CLAUSE.exec(comment.value.replace(/^[\s*]+/, '')) ?? [];
    if (!isContinued && word !== undefined) add(comment.start, `a comment starts with "${word}"`);
  }
  visit(program as unknown as Node, (node) => {
    for (const name of vagueNames(node)) add(node.start, `"${name}" says nothing as a name`);
    const title = testTitle(node);
    if (title !== undefined && !hasVerb(title)) add(node.start, `the test title "${title}" has no verb`);
  });
  if (!NETWORK.has(path)) {
    for (const { index } of source.matchAll(PEER)) add(index, 'a product is called "peer"; write its name');
  }
  return problems.sort((one, other) => one.line - other.line);
}

function visit(node: Node, callback: (node: Node) => void): void {
  callback(node);
  for (const child of Object.values(node).flat()) {
    if (typeof child === 'object' && child !== null && 'type' in child) visit(child as Node, callback);
  }
}

function vagueNames(node: Node): string[] {
  const isComponent = node.type === 'VariableDeclarator' && /^[A-Z]/.test(nameOf(node['id']));
  const declared = DECLARATIONS.has(node.type) || isComponent ? [nameOf(node['id'])] : [];
  return declared.filter((name) => VAGUE_NAMES.has(name));
}

const nameOf = (node: unknown): string => {
  const name = (node as { name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : '';
};
function testTitle(node: Node): string | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const callee = node['callee'] as Node;
  if (nameOf(callee.type === 'MemberExpression' ? callee['object'] : callee) !== 'it') return undefined;
  const [title] = node['arguments'] as Node[];
  if (title?.type === 'Literal') return String(title['value']);
  if (title?.type !== 'TemplateLiteral') return undefined;
  return (title['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…');
}

/** Verbs in the form that follows a plural subject: `describe('sessions')` and `it('expire at their expiry time')`. */
const VERBS = new Set(
  `accept appear apply are is has assume cause check collide delay depend exist overwrite plan run reference become begin belong can cannot carry change combine come commit compare concern conflict contain continue convert
  count create default delete did differ distinguish do end equal exclude expire explain fail fit fold follow get give had
  handle happen have include keep lead leave limit list map match may merge must name need pass pin prefer prepare produce prove
  query read rebuild recognize refer reject report require respond return say scan set should show skip start stay stop
  succeed support survive take transform treat trigger use verify wait was were will work would write`.split(/\s+/),
);

/**
 * True if a word is a verb in the list, or ends like a verb in the third person. Other words that end with `s` pass
 * too.
 */
function hasVerb(title: string): boolean {
  if (/^given .* then /.test(title)) return true;
  const words = title.split(/[^A-Za-z'-]+/).filter((word) => word !== '');
  return (
    words.length === 0 || words.some((word) => VERBS.has(word) || /^[a-z-]+[^s'u]s$|^(?:is|has|does)n't$/.test(word))
  );
}
