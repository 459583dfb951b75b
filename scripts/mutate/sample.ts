/** The mutations of a run. A seed draws them, they compile, and equivalent ones are excluded. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, type Copy, projectFiles } from './copy.js';
import { type Mutation, mutated, mutationsOf } from './mutations.js';

const run = promisify(execFile);
/** Browser tests use the built app, so only unit tests could detect changes in its sources. */
const APP = 'src/web/';

/** A mutation without an observable effect, with the reason. `text` is its trimmed line. */
interface Equivalent {
  file: string;
  text: string;
  operator: string;
  reason: string;
}

/** Includes its trimmed line. */
interface Candidate extends Mutation {
  line: string;
}

export interface SampleOptions {
  seed: number;
  count: number;
  /** The folder or file to mutate, relative to the project's. */
  under: string;
}

/**
 * Draws `count` mutations and restores the copy's sources. The sample of a seed depends only on the drawn lines. So
 * after tests were added for survivors, the same seed shows whether the others are still detected.
 */
export async function drawSample(copy: Copy, { seed, count, under }: SampleOptions): Promise<Mutation[]> {
  const candidates = inOrderOf(seed, await allMutations(under));
  const sample: Mutation[] = [];
  while (sample.length < count && candidates.length > 0) {
    const sampleSize = Math.ceil((count - sample.length) * 3);
    sample.push(...(await compiling(copy, takeOneAFile(candidates, sampleSize))));
  }
  return sample.slice(0, count);
}

/** Line number (from 1) and trimmed text of a location in a source. */
export function lineAt(source: string, place: number): { line: number; text: string } {
  const line = source.slice(0, place).split('\n').length;
  return { line, text: (source.split('\n')[line - 1] ?? '').trim() };
}

async function allMutations(under: string): Promise<Candidate[]> {
  const equivalents = JSON.parse(
    await readFile(join(import.meta.dirname, 'equivalent.json'), 'utf8'),
  ) as readonly Equivalent[];
  const candidates: Candidate[] = [];
  for (const file of (await projectFiles()).toSorted()) {
    if (!/^src\/.*\.ts$/.test(file) || !(file === under || file.startsWith(`${under}/`))) continue;
    if (file.startsWith(APP) && !under.startsWith(APP)) continue;
    const source = await readFile(join(ROOT, file), 'utf8').catch(() => '');
    const fileEquivalents = equivalents.filter((each) => each.file === file);
    for (const mutation of mutationsOf(file, source)) {
      const { text } = lineAt(source, mutation.start);
      if (!fileEquivalents.some((each) => each.operator === mutation.operator && each.text === text))
        candidates.push({ ...mutation, line: text });
    }
  }
  return candidates;
}

/** Orders by a hash of the seed, the changed text, and its number among equal changes of its file. */
function inOrderOf(seed: number, candidates: readonly Candidate[]): Mutation[] {
  const seen = new Map<string, number>();
  const placed = candidates.map(({ line, ...mutation }) => {
    const change = JSON.stringify([mutation.file, mutation.operator, mutation.text, line]);
    const number = seen.get(change) ?? 0;
    seen.set(change, number + 1);
    return { mutation, place: createHash('sha256').update(`${seed} ${change} ${number}`).digest('hex') };
  });
  return placed.sort((a, b) => (a.place < b.place ? -1 : 1)).map(({ mutation }) => mutation);
}

/** Takes the first mutations, at most one per file, so that the type checker can check all together. */
function takeOneAFile(candidates: Mutation[], count: number): Mutation[] {
  const taken = new Map<string, Mutation>();
  for (const candidate of candidates) {
    if (taken.size >= count) break;
    if (!taken.has(candidate.file)) taken.set(candidate.file, candidate);
  }
  for (const candidate of taken.values()) candidates.splice(candidates.indexOf(candidate), 1);
  return [...taken.values()];
}

/** The mutations that compile. Checks all at once, then again without the ones with errors. */
async function compiling(copy: Copy, candidates: readonly Mutation[]): Promise<Mutation[]> {
  const sources = new Map<string, string>();
  for (const { file } of candidates) sources.set(file, await readFile(join(copy.directory, file), 'utf8'));
  const restore = (file: string) => writeFile(join(copy.directory, file), sources.get(file) ?? '');
  const left = new Map(candidates.map((candidate) => [candidate.file, candidate]));
  for (const [file, candidate] of left) {
    await writeFile(join(copy.directory, file), mutated(sources.get(file) ?? '', candidate));
  }
  for (;;) {
    const wrong = await filesWithErrors(copy.directory);
    if (wrong.size === 0) break;
    let culprits = [...wrong].filter((file) => left.has(file));
    if (culprits.length === 0) culprits = await importedBy(copy.directory, wrong, left);
    if (culprits.length === 0) culprits = [...left.keys()];
    for (const file of culprits) {
      left.delete(file);
      await restore(file);
    }
  }
  await Promise.all([...left.keys()].map(restore));
  return [...left.values()];
}

async function filesWithErrors(directory: string): Promise<Set<string>> {
  const args = ['tsc', '-p', 'tsconfig.build.json', '--noEmit', '--pretty', 'false'];
  const flags = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false', '--sourceMap', 'false'];
  const options = { cwd: directory, maxBuffer: 1 << 26 };
  const output = await run('npx', [...args, ...flags], options).then(
    () => '',
    (error: unknown) => String((error as { stdout?: unknown }).stdout),
  );
  const files = new Set([...output.matchAll(/^(src\/\S+?)\(\d+,\d+\): error/gm)].map((match) => match[1] ?? ''));
  if (output !== '' && files.size === 0) throw new Error(output);
  return files;
}

/** Mutated files that the files with errors import. One of them changed a type. */
async function importedBy(directory: string, wrong: ReadonlySet<string>, left: ReadonlyMap<string, Mutation>) {
  const names = new Set<string>();
  for (const file of wrong) {
    const source = await readFile(join(directory, file), 'utf8');
    for (const [, specifier = ''] of source.matchAll(/from '(\.[^']+)\.js'/g)) {
      const imported = join(file, '..', `${specifier}.ts`);
      if (left.has(imported)) names.add(imported);
    }
  }
  return [...names];
}
