/**
 * `npm run functions`: reads the catalogs of PostgreSQL 14 to 18 (each from npm, in a temporary folder) and writes what
 * SQL from outside may name: src/schema/sql-text/postgres-names.ts, and the page docs/functions.md about it.
 * `npm run functions -- page` writes the page alone.
 */
import { writeFile } from 'node:fs/promises';
import { type Brought, type Catalog, type NamedFunction, readCatalog } from './catalog.js';
import { RELEASES, withServer } from '../postgres/servers.js';

const NAMES = new URL('../../src/schema/sql-text/postgres-names.ts', import.meta.url);

async function writeNames(): Promise<void> {
  const catalogs: Catalog[] = [];
  for (const release of RELEASES) catalogs.push(await withServer(release, readCatalog));
  const extensions = [...new Set(catalogs.flatMap((each) => [...each.extensions.keys()]))].sort(byCode);
  const members = extensions.map((name) => {
    const names = written(catalogs.flatMap((each) => each.extensions.get(name) ?? []));
    return `  ${JSON.stringify(name)}: ${member(names, '  ')},`;
  });
  const configurations = inEach(catalogs.map((each) => each.searchConfigurations));
  const own: Lists = [...written(catalogs), ['searchConfigurations', configurations]];
  await writeFile(
    NAMES,
    [
      '/** Made by `npm run functions` from the catalogs of PostgreSQL 14 to 18: not to be edited. */',
      '',
      '/** Names between blanks. */',
      'export interface WrittenNames {',
      '  functions: string;',
      '  types: string;',
      '  operators: string;',
      '  operatorClasses: string;',
      '}',
      '',
      '/** Functions: those of which every overload is immutable in every release, and takes and gives a value. */',
      `export const POSTGRES_NAMES: WrittenNames & { searchConfigurations: string } = ${member(own, '')};`,
      '',
      "/** Of the trusted extensions of PostgreSQL's own distribution. */",
      'export const EXTENSION_NAMES: { readonly [extension: string]: WrittenNames } = {',
      ...members,
      '};',
      '',
    ].join('\n'),
  );
}

type Lists = [name: string, names: string[]][];

/** Functions as their rule says; what else a name stands for is there in every release that has any of it. */
function written(brought: readonly Brought[]): Lists {
  return [
    ['functions', steadyFunctions(brought.map(({ functions }) => functions))],
    ['types', inEach(brought.map(({ types }) => types))],
    ['operators', inEach(brought.map(({ operators }) => operators))],
    ['operatorClasses', inEach(brought.map(({ operatorClasses }) => operatorClasses))],
  ];
}

function steadyFunctions(releases: readonly (readonly NamedFunction[])[]): string[] {
  const steady = new Map<string, boolean>();
  for (const { name, callable, volatility } of releases.flat()) {
    steady.set(name, steady.get(name) !== false && callable && volatility === 'immutable');
  }
  return [...steady]
    .filter(([, is]) => is)
    .map(([name]) => name)
    .sort(byCode);
}

function inEach(releases: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = releases.map((names) => new Set(names));
  return [...first].filter((name) => others.every((names) => names.has(name))).sort(byCode);
}

const byCode = (a: string, b: string): number => (a < b ? -1 : 1);

/** Long lines: they are not for reading, and a file stays short. */
const WIDTH = 400;

function member(lists: Lists, indent: string): string {
  const inner = `${indent}  `;
  const lines = lists.map(([name, names]) => `${inner}${name}: String.raw\`${wrapped(names, inner)}\`,`);
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function wrapped(names: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const name of names) {
    // Operators hold backquotes in no release; were there one, the file would not compile.
    const last = lines.at(-1);
    if (last === undefined || last.length + name.length > WIDTH) lines.push(name);
    else lines[lines.length - 1] = `${last} ${name}`;
  }
  return lines.length < 2 ? lines.join('') : `\n${lines.map((line) => `${indent}  ${line}`).join('\n')}\n${indent}`;
}

if (process.argv[2] !== 'page') await writeNames();
// What was just written is read by the page.
const { PAGE, functionsPage } = await import('./page.js');
await writeFile(PAGE, await functionsPage());
