/** The possible single changes to a source file. */
import { type Node, childAt, children, walk } from './ast.js';

export interface Mutation {
  file: string;
  start: number;
  end: number;
  /** Replaces `start` to `end`. */
  text: string;
  /** The name of the operator. */
  operator: string;
  /**
   * Start of the code that runs only with, or only without, the mutation. Its tests are the most likely to detect it.
   */
  telling?: number;
}

/** A change to the text of a file, without the path. */
type Change = Omit<Mutation, 'file'>;
type Mutate = (node: Node, source: string) => Change[];

const SWAPPED_BINARY: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};
const SWAPPED_LOGICAL: Record<string, string> = { '&&': '||', '||': '&&' };
const SWAPPED_CALL: Record<string, string> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
};

/** Larger numbers, and products of numbers, are chosen limits of time and size. No test detects a difference of one. */
const A_CHOICE = 1_000;

/** Keyed by the kind of node. */
const MUTATE: Record<string, Mutate> = {
  IfStatement: (node, source) => [...negated(node, source), ...withoutGuard(node)],
  ConditionalExpression: negated,
  WhileStatement: negated,
  BinaryExpression: (node, source) => swapOperator(node, source, SWAPPED_BINARY),
  LogicalExpression: (node, source) => [...swapOperator(node, source, SWAPPED_LOGICAL), ...withoutDefault(node)],
  UnaryExpression: (node) =>
    node['operator'] === '!' ? [{ start: node.start, end: node.start + 1, text: '', operator: 'drop !' }] : [],
  Literal: literal,
  ArrayExpression: (node) =>
    children(node).length > 0 ? [{ start: node.start, end: node.end, text: '[]', operator: 'empty array' }] : [],
  ExpressionStatement: withoutStatement,
  CallExpression: swappedCall,
};

/** Skipped nodes: types, imports and exports, and texts of log lines and documents. */
const SKIPPED =
  /^(TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|Import|Export(?!Named|Default)|TemplateElement)/;

/** Every mutation of a file, in the order of the text. */
export function mutationsOf(file: string, source: string): Mutation[] {
  const mutations: Mutation[] = [];
  walk(file, source, (node, parent) => {
    if (SKIPPED.test(node.type) || isLogged(node) || (productOf(node) ?? 0) >= A_CHOICE) return false;
    if (!isName(node, parent))
      for (const change of MUTATE[node.type]?.(node, source) ?? []) mutations.push({ file, ...change });
    return true;
  });
  return mutations;
}

/** The source after the mutation. */
export function mutated(source: string, { start, end, text }: Mutation): string {
  return source.slice(0, start) + text + source.slice(end);
}

function negated(node: Node, source: string): Change[] {
  const test = childAt(node, 'test');
  if (test === undefined) return [];
  const text = `!(${source.slice(test.start, test.end)})`;
  return [{ start: test.start, end: test.end, text, operator: 'negate condition' }];
}

/** `if (…) return …` without an `else`, which leaves the function early. */
function withoutGuard(node: Node): Change[] {
  const consequent = childAt(node, 'consequent');
  if (consequent === undefined || childAt(node, 'alternate') !== undefined) return [];
  if (!/^(Return|Throw|Continue|Break)Statement$/.test(consequent.type)) return [];
  const { start, end } = node;
  return [{ start, end, text: ';', operator: 'drop guard', telling: consequent.start }];
}

function swapOperator(node: Node, source: string, by: Readonly<Record<string, string>>): Change[] {
  const operator = String(node['operator']);
  const text = by[operator];
  const [left, right] = [childAt(node, 'left'), childAt(node, 'right')];
  if (text === undefined || left === undefined || right === undefined) return [];
  const start = source.indexOf(operator, left.end);
  if (start < 0 || start >= right.start) return [];
  return [{ start, end: start + operator.length, text, operator: `${operator} to ${text}` }];
}

/** `a ?? b` without its right side. */
function withoutDefault(node: Node): Change[] {
  const [left, right] = [childAt(node, 'left'), childAt(node, 'right')];
  if (node['operator'] !== '??' || left === undefined || right === undefined) return [];
  return [{ start: left.end, end: node.end, text: '', operator: 'drop default', telling: right.start }];
}

function literal(node: Node): Change[] {
  const { value, start, end } = node;
  if (typeof value === 'boolean') return [{ start, end, text: String(!value), operator: 'swap boolean' }];
  if (typeof value === 'number') {
    return [{ start, end, text: value === 1 ? '0' : String(value + 1), operator: 'another number' }];
  }
  if (typeof value !== 'string' || /\s/.test(value)) return []; // prose and SQL
  return [{ start, end, text: value === '' ? "'mutated'" : "''", operator: 'another text' }];
}

/** A call or an assignment with an unused value. */
function withoutStatement(node: Node): Change[] {
  const expression = childAt(node, 'expression');
  const inner = expression?.type === 'AwaitExpression' ? childAt(expression, 'argument') : expression;
  if (inner?.type !== 'CallExpression' && inner?.type !== 'AssignmentExpression') return [];
  return [{ start: node.start, end: node.end, text: ';', operator: 'drop statement' }];
}

function swappedCall(node: Node): Change[] {
  const callee = childAt(node, 'callee');
  const property = callee?.type === 'MemberExpression' ? childAt(callee, 'property') : undefined;
  const name = String(property?.['name']);
  const text = Object.hasOwn(SWAPPED_CALL, name) ? SWAPPED_CALL[name] : undefined;
  if (property === undefined || text === undefined) return [];
  return [{ start: property.start, end: property.end, text, operator: `${name} to ${text}` }];
}

/** An expression of numbers alone: `16 * 1024 ** 2`. */
function productOf(node: Node): number | undefined {
  const [left, right] = [childAt(node, 'left'), childAt(node, 'right')];
  const operator = node['operator'];
  if (node.type === 'Literal') return typeof node['value'] === 'number' ? node['value'] : undefined;
  if (left === undefined || right === undefined || (operator !== '*' && operator !== '**')) return undefined;
  const [one, other] = [productOf(left), productOf(right)];
  if (one === undefined || other === undefined) return undefined;
  return operator === '*' ? one * other : one ** other;
}

/** A property key or module name, which is not a value. */
function isName(node: Node, parent: Node | undefined): boolean {
  return node.type === 'Literal' && /^(Property|Import|Export)/.test(parent?.type ?? '') && isKeyOf(node, parent);
}

function isKeyOf(node: Node, parent: Node | undefined): boolean {
  return parent !== undefined && (childAt(parent, 'key') === node || childAt(parent, 'source') === node);
}

/** A log line, whose words are not part of a contract. */
function isLogged(node: Node): boolean {
  const callee = node.type === 'CallExpression' ? childAt(node, 'callee') : undefined;
  const object = callee?.type === 'MemberExpression' ? childAt(callee, 'object') : undefined;
  return object !== undefined && (object['name'] === 'logger' || childAt(object, 'property')?.['name'] === 'logger');
}
