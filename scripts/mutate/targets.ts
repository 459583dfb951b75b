/** The test files that may detect a mutation, the likeliest first. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blockAt, blocksOf } from './blocks.js';
import { projectFiles } from './copy.js';
import { type TestCoverage, opensNoSocket } from './coverage.js';
import type { Mutation } from './mutations.js';
import { lineAt } from './sample.js';
import { blocksMentioning, usesOf } from './uses.js';

/**
 * Orders test files by what they run: the code that the mutation skips or adds, then its block, then its file, then
 * files that import it. Code outside every block runs when its file loads. For such code, tests of its users and unit
 * tests of the room are first. Within each group unit tests are first. Then follow tests whose paths share most words
 * with the file and the changed line, then those that run the fewest blocks.
 * @param directory the sources without mutations
 */
export async function testsFor(
  directory: string,
  mutation: Mutation,
  coverage: readonly TestCoverage[],
): Promise<TestCoverage[]> {
  const sound = coverage.filter(({ failed }) => failed === 0);
  const { file } = mutation;
  const source = await readFile(join(directory, file), 'utf8');
  const blocks = blocksOf(file, source);
  const block = blockAt(blocks, mutation.start);
  const runningIn = (path: string, count: number, number: number | undefined): TestCoverage[] =>
    sound.filter(({ blocks: ran, sources }) => sources[path] === count && ran.includes(`${path}#${number}`));
  const running = (number: number | undefined): TestCoverage[] => runningIn(file, blocks.length, number);
  const telling = mutation.telling === undefined ? [] : running(blockAt(blocks, mutation.telling));
  let files = [file];
  let wider: TestCoverage[] = [];
  for (let step = 0; step < 4 && wider.length === 0; step++) {
    wider = sound.filter(({ sources }) => files.some((each) => Object.hasOwn(sources, each)));
    files = await importersOf(directory, files);
  }
  const users = async (): Promise<TestCoverage[]> => {
    const { names, blocks: using } = usesOf(file, source, blocks, mutation.start);
    const reached = [...using].flatMap(running);
    for (const importer of using.size > 0 || names.size === 0 ? [] : await importersOf(directory, [file])) {
      const text = await readFile(join(directory, importer), 'utf8');
      const its = blocksOf(importer, text);
      for (const number of blocksMentioning(importer, text, its, names))
        reached.push(...runningIn(importer, its.length, number));
    }
    return [...new Set([...reached, ...sound.filter((test) => isOfRoom(test, file))])];
  };
  const nearest = block === undefined ? await users() : running(block);
  const place = { file, words: new Set(wordsOf(lineAt(source, mutation.start).text)) };
  return [...new Set([telling, nearest, wider].flatMap((group) => rankTests(group, place)))];
}

interface ChangedLine {
  file: string;
  /** Words of the changed line. */
  words: ReadonlySet<string>;
}

function rankTests(tests: readonly TestCoverage[], { file, words }: ChangedLine): TestCoverage[] {
  const ranked = tests.map((test) => {
    const shared = wordsOf(test.file.replace(/^.*\//, '')).filter((word) => words.has(word)).length;
    return { test, place: rank(test), near: -sharedFolders(test.file, file) - shared };
  });
  return ranked
    .toSorted((a, b) => a.place - b.place || a.near - b.near || a.test.blocks.length - b.test.blocks.length)
    .map(({ test }) => test);
}

/** `lock` and `holder` of `LockHolders`. Short words are too common. */
function wordsOf(text: string): string[] {
  return (text.match(/[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase().replace(/s$/, '')).filter(isOwn);
}

const isOwn = (word: string): boolean => word.length > 3 && !['unit', 'long', 'test', 'const', 'return'].includes(word);

/** A unit test of the same room: the first two folders are equal. */
const isOfRoom = ({ file }: TestCoverage, source: string): boolean =>
  file.endsWith('.unit.test.ts') && sharedFolders(file, source) >= Math.min(2, source.split('/').length - 2);

function rank({ file }: TestCoverage): number {
  return file.endsWith('.unit.test.ts') ? 0 : opensNoSocket(file) ? 1 : 2;
}

/** Length of the common path below `src` and `test`, including the file's own name. */
function sharedFolders(test: string, source: string): number {
  const [one, other] = [test, source].map((path) =>
    path
      .replace(/(\.(unit|int|e2e)\.test)?\.ts$/, '')
      .split('/')
      .slice(1),
  );
  const apart = one?.findIndex((part, index) => part !== other?.[index]) ?? 0;
  return apart < 0 ? (one?.length ?? 0) : apart;
}

/** Type imports do not exist at run time. */
const IMPORTED = /^(?:import|export) (?!type )[^;]*?from '(\.[^']+)\.js'/gm;

async function importersOf(directory: string, files: readonly string[]): Promise<string[]> {
  const paths = new Set<string>();
  for (const file of await projectFiles()) {
    if (!/^src\/.*\.ts$/.test(file)) continue;
    const source = await readFile(join(directory, file), 'utf8').catch(() => '');
    for (const [, specifier = ''] of source.matchAll(IMPORTED)) {
      if (files.includes(join(file, '..', `${specifier}.ts`))) paths.add(file);
    }
  }
  return [...paths];
}
