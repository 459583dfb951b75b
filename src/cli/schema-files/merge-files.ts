/** Merges the changes of a folder with those that others made on a running service since their base. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../kernel/operator-error.js';
import type { MergePlace } from '../../schema/merge/model.js';
import { type Invocation, UsageError, isSet, text } from '../command.js';
import type { Locate } from '../findings/index.js';
import type { DiffDocument } from '../diff-document.js';
import { parseDocument, readDocument } from '../document.js';
import { type Answered, ask, askAnyway, refusal } from '../connections/service.js';
import { type ConflictAnswer, describeConflicts } from './conflicts.js';
import { LOCK } from './lock.js';
import { type SchemaFiles, readSchemaFiles } from './read-folder.js';
import { parsePlace } from './places.js';

/** The location in the files; null if there is none, for example for removed objects. */
export const locateIn =
  ({ parts, placeOf }: SchemaFiles, directory: string): Locate =>
  (collection, field) => {
    const inField = parts.fields.findIndex((each) => each['collection'] === collection && each['field'] === field);
    const index = parts.collections.findIndex((each) => each['collection'] === collection);
    const place = inField >= 0 ? placeOf(['fields', inField]) : index < 0 ? null : placeOf(['collections', index]);
    const [, file, line] = /^(.*):(\d+)$/.exec(place ?? '') ?? [];
    return file === undefined ? null : { file: join(directory, file), line: Number(line) };
  };

export interface MergedFiles {
  /** The service's response, for apply. */
  answer: string;
  document: DiffDocument;
  files: SchemaFiles;
}

/**
 * Changes nothing.
 * @throws OperatorError for invalid files and for conflicts that --take does not resolve
 */
export async function mergeFiles(invocation: Invocation, directory: string): Promise<MergedFiles> {
  const files = await readSchemaFiles(directory);
  const release = files.lock?.release ?? (await releaseOf(invocation));
  const snapshotOf = ({ parts, lock }: Pick<SchemaFiles, 'parts' | 'lock'>) => ({
    version: 1,
    service: lock?.release ?? release,
    vendor: 'postgres',
    ...parts,
  });
  const body = { base: await baseOf(invocation, directory, files, snapshotOf), theirs: snapshotOf(files) };
  const answer = await merged(invocation, body, files);
  return { answer: answer.text, document: JSON.parse(answer.text) as DiffDocument, files };
}

async function releaseOf(invocation: Invocation): Promise<string> {
  const { data } = JSON.parse(await ask(invocation, '/server/info')) as { data: { release: string } };
  return data.release;
}

/** Resolved conflicts can reveal others: first names, then members, then rule violations. */
const MAX_ROUNDS = 10;

async function merged(invocation: Invocation, body: object, files: SchemaFiles): Promise<Answered> {
  const take = text(invocation.values, 'take');
  const query = { force: isSet(invocation.values, 'force') };
  // Absent until there is something to resolve.
  let resolve: { place: MergePlace; take: string }[] | undefined;
  for (let round = 1; ; round += 1) {
    const content = Buffer.from(JSON.stringify({ ...body, resolve }));
    const sent = { method: 'POST' as const, query, body: { type: 'application/json', content } };
    const answer = await askAnyway(invocation, '/schema/merge', sent);
    if (answer.status === 200) return answer;
    const conflicts = conflictsIn(answer.text);
    if (take === undefined || conflicts.length === 0 || round === MAX_ROUNDS)
      throw new OperatorError(why(answer, files));
    resolve = [...(resolve ?? []), ...conflicts.map(({ extensions: { place } }) => ({ place, take }))];
  }
}

function conflictsIn(content: string): ConflictAnswer[] {
  const errors = errorsIn(content);
  const isConflict = errors[0]?.extensions.code === 'MERGE_CONFLICT';
  return isConflict ? (errors as unknown as ConflictAnswer[]) : [];
}

type SnapshotOf = (files: Pick<SchemaFiles, 'parts' | 'lock'>) => object;

/** --base, or the lock. */
async function baseOf(
  invocation: Invocation,
  directory: string,
  { lock }: SchemaFiles,
  snapshotOf: SnapshotOf,
): Promise<unknown> {
  const given = text(invocation.values, 'base');
  if (given !== undefined) return namedBase(invocation, given, snapshotOf);
  if (lock !== null) return lock.position;
  throw new UsageError(
    `${directory} has no dps.lock, which says what its files were made from: run "dps pull ${directory}" first, or name it with --base.`,
  );
}

/** A point in time, a folder, or a snapshot. */
async function namedBase(invocation: Invocation, given: string, snapshotOf: SnapshotOf): Promise<unknown> {
  const found = await stat(given).catch(() => null);
  if (found === null) return given;
  if (!found.isDirectory()) return parseDocument(await readDocument(invocation, given), given);
  return snapshotOf(await readSchemaFiles(given));
}

interface Refusal {
  message: string;
  extensions: { code: string; path?: string };
}

function why({ status, text: content }: Answered, files: SchemaFiles): string {
  const conflicts = conflictsIn(content);
  if (conflicts.length > 0) return describeConflicts(conflicts, files);
  const errors = errorsIn(content);
  if (errors.some(({ extensions: { code } }) => code === 'DIVERGED')) return OF_ANOTHER_LOG;
  if (errors.length === 0) return refusal(status, content);
  return errors.map((error) => located(error, files)).join('\n');
}

const OF_ANOTHER_LOG =
  'dps.lock is of another service, or its log is another one now. Name what the files are changes of: --base DIR, as they were before; or --base now, which makes the service what the files say, whatever others changed there.';

function errorsIn(content: string): Refusal[] {
  try {
    return (JSON.parse(content) as { errors: Refusal[] }).errors;
  } catch {
    return [];
  }
}

/** With file and line if it concerns the files. */
function located({ message, extensions: { path } }: Refusal, files: SchemaFiles): string {
  if (path === undefined) return message;
  const [member, ...steps] = parsePlace(path);
  const place = member === 'theirs' ? (steps[0] === 'service' ? LOCK : files.placeOf(steps)) : null;
  return `${place ?? path}: ${message}`;
}
