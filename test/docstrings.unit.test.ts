/** What src exports to be called says what a caller needs to know, right above it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Expression, type Node, type Program, parseSync } from 'oxc-parser';
import { ROOT, filesUnder } from './support/documents.js';

const files = [...filesUnder('src', '.ts'), ...filesUnder('src', '.tsx')].filter((file) => !file.endsWith('.d.ts'));

/** Something that can be called or constructed, and where the statement that declares it begins. */
interface Callable {
  name: string;
  start: number;
}

describe('a docstring', () => {
  it('stands above every exported function and class', () => {
    expect(files.flatMap((file) => bareIn(file, readFileSync(join(ROOT, file), 'utf8')))).to.deep.equal([]);
  });

  const DECLARED = {
    'a function': 'export function f() {}',
    'a generator': 'export async function* f() {}',
    'a default': 'export default function f() {}',
    'an arrow': 'export const f = () => 1;',
    'an arrow with types': 'export const f: F = (<T>(a: T) => a) satisfies F as F;',
    'a function in a const': 'export const f = function () {};',
    'a class': 'export abstract class f {}',
    'one that is exported later': 'function f() {}\nexport { f as g };',
    'one that is exported by default later': 'const f = () => 1;\nexport default f;',
    overloads: 'export function f(a: 1): 1;\nexport function f(a: 2): 2;\nexport function f(a: number) { return a; }',
  };
  for (const [what, source] of Object.entries(DECLARED))
    it(`is asked of ${what}`, () => {
      expect(bareIn('a.ts', `/** The file. */\n\n${source}`)).to.deep.equal(['a.ts:3 f']);
      expect(bareIn('a.ts', `import 'b';\n// why\n${source}`)).to.deep.equal(['a.ts:3 f']);
      expect(bareIn('a.ts', `import 'b';\n/* why */\n${source}`)).to.deep.equal(['a.ts:3 f']);
      expect(bareIn('a.ts', `import 'b';\n/** Why. */\n${source}`)).to.deep.equal([]);
    });

  it('is asked of nothing else', () => {
    const source = 'function f() {}\nexport const a = 1, b = f();\nexport interface C {}\nexport type { D } from "d";';
    expect(bareIn('a.ts', source)).to.deep.equal([]);
  });
});

/** An export of a value without the end of a comment right above it, each in a line of its own, as the formatter has it. */
const BARE_EXPORT = /(?<!^(?: \*\/|\/\*\* .*\*\/)\n)^export (?!type\b|interface\b)/m;

/** What has no docstring, as `file:line name`. A file is only parsed where there can be any: parsing all takes 1.5 s. */
function bareIn(file: string, source: string): string[] {
  if (!BARE_EXPORT.test(source)) return [];
  const { program, comments, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const ends = comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*')).map(({ end }) => end);
  const told = ({ start }: Callable): boolean => ends.some((end) => source.slice(end, start) === '\n');
  return callables(program)
    .filter((each) => !told(each))
    .map(({ name, start }) => `${file}:${source.slice(0, start).split('\n').length} ${name}`);
}

/** The exported ones of a file, each once, in their order. */
function callables({ body }: Program): Callable[] {
  const found = new Map<string, Callable>();
  const exported = new Set<string>();
  for (const statement of body) {
    const isExport = statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration';
    const declaration = (isExport && statement.declaration) || statement;
    for (const name of namesOf(declaration)) {
      if (!found.has(name)) found.set(name, { name, start: statement.start });
      if (isExport) exported.add(name);
    }
    for (const name of namedAgain(statement)) exported.add(name);
  }
  return [...found.values()].filter(({ name }) => exported.has(name));
}

/** What a declaration calls that can be called; `default` where it gives no name. */
function namesOf(declaration: Node): string[] {
  switch (declaration.type) {
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
    case 'ClassDeclaration':
      return [declaration.id?.name ?? 'default'];
    case 'ArrowFunctionExpression':
      return ['default'];
    case 'VariableDeclaration':
      return declaration.declarations.flatMap(({ id, init }) =>
        id.type === 'Identifier' && isFunction(init) ? [id.name] : [],
      );
    default:
      return [];
  }
}

/** What is declared elsewhere in the file and exported here. */
function namedAgain(statement: Node): string[] {
  if (statement.type === 'ExportDefaultDeclaration')
    return statement.declaration.type === 'Identifier' ? [statement.declaration.name] : [];
  if (statement.type !== 'ExportNamedDeclaration' || statement.source !== null) return [];
  return statement.specifiers.flatMap(({ local }) => (local.type === 'Identifier' ? [local.name] : []));
}

function isFunction(value: Expression | null): boolean {
  switch (value?.type) {
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return isFunction(value.expression);
    default:
      return /^(ArrowFunction|Function|Class)Expression$/.test(value?.type ?? '');
  }
}
