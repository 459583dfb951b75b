/** Merges the changes in a folder with those that others made on a running service since the base of the folder. */
import type { Errors } from '../../http/openapi/answers/envelopes.js';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../kernel/problem.js';
import type { MergeLocation } from '../../schema/merge/model.js';
import { type Invocation, UsageError, isSet, text } from '../command.js';
import type { Locate } from '../findings.js';
import type { DiffDocument } from '../planned-changes.js';
import { parseDocument, readDocument } from '../input.js';
import { type ServiceResponse, requestAnyStatus, readInfo, describeRejection } from '../connections/service.js';
import { LOCK } from './contents.js';
import { type SchemaFiles, readSchemaFiles } from './read-folder.js';
import { formatCount } from '../../kernel/text.js';

/* Describe merge conflicts for the user who resolves them. */

export interface ConflictAnswer {
  message: string;
  extensions: { kind: string; place: MergeLocation; base?: unknown; ours?: unknown; theirs?: unknown };
}

/** Returns one or more lines per conflict, with the locations in files and the options to resolve it. */
export function describeConflicts(conflicts: readonly ConflictAnswer[], files: SchemaFiles): string {
  const lines = conflicts.map((conflict) => describe(conflict, files));
  const count = formatCount(conflicts.length, 'conflict');
  return `${lines.join('\n')}\nNothing was changed: ${count} between the files and changes that others have made since. Edit the files to match the service, or resolve all conflicts with --take ours (the service) or --take theirs (the files).`;
}

function describe({ message, extensions }: ConflictAnswer, files: SchemaFiles): string {
  const { place, kind, base, ours, theirs } = extensions;
  const at = fileOf(place, files);
  const values =
    kind === 'changed' ? `\n  base ${shorten(base)}, ours ${shorten(ours)}, theirs ${shorten(theirs)}` : '';
  return `${at === null ? '' : `${at}: `}${message}${values}`;
}

/** Returns the file and line of the location. Null if the files do not contain it. */
function fileOf(location: MergeLocation, { parts, placeOf }: SchemaFiles): string | null {
  if (location.part === 'objects') {
    const { kind, id, path: member = [] } = location;
    const at = parts.objects?.findIndex((each) => each.kind === kind && each.id === id) ?? -1;
    return at < 0 ? null : placeOf(['objects', at, ...member]);
  }
  const { part, collection, field, path = [] } = location;
  const index = parts[part].findIndex((each) => {
    if (part === 'collections') return each['collection'] === collection;
    if (part === 'fields') return each['collection'] === collection && each['field'] === field;
    return each['many_collection'] === collection && each['many_field'] === field;
  });
  return index < 0 ? null : placeOf([part, index, ...path]);
}

const LONGEST = 120;

function shorten(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Parses the locations in errors. */

/** Parses `theirs.fields[2]["a b"]` to `['theirs', 'fields', 2, 'a b']`. */
export function parseLocation(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index, quoted] of path.matchAll(/\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)) {
    if (index !== undefined) steps.push(Number(index));
    else steps.push(quoted === undefined ? (name ?? '') : (JSON.parse(quoted) as string));
  }
  return steps;
}

/** Returns a function that finds a location in the files. Null if there is none, for example for removed objects. */
export const locateIn =
  ({ parts, placeOf }: SchemaFiles, directory: string): Locate =>
  (collection, field) => {
    const inField = parts.fields.findIndex((each) => each['collection'] === collection && each['field'] === field);
    const index = parts.collections.findIndex((each) => each['collection'] === collection);
    const location = inField >= 0 ? placeOf(['fields', inField]) : index < 0 ? null : placeOf(['collections', index]);
    const [, file, line] = /^(.*):(\d+)$/.exec(location ?? '') ?? [];
    return file === undefined ? null : { file: join(directory, file), line: Number(line) };
  };

export interface MergedFiles {
  /** The response of the service, which can be sent to apply. */
  answer: string;
  document: DiffDocument;
  files: SchemaFiles;
}

/**
 * Merges without changing anything.
 * @throws OperatorError for invalid files and for conflicts that --take does not resolve
 */
export async function mergeFiles(invocation: Invocation, directory: string): Promise<MergedFiles> {
  const files = await readSchemaFiles(directory);
  const release = files.lock?.release ?? (await readInfo(invocation)).release;
  const snapshotOf = ({ parts, lock }: Pick<SchemaFiles, 'parts' | 'lock'>) => ({
    version: 1,
    service: lock?.release ?? release,
    vendor: 'postgres',
    ...parts,
  });
  const body = { base: await readBase(invocation, directory, files, snapshotOf), theirs: snapshotOf(files) };
  const answer = await mergeWithService(invocation, body, files);
  return { answer: answer.text, document: JSON.parse(answer.text) as DiffDocument, files };
}

/** Maximum number of rounds. Resolving conflicts can reveal others: first names, then members, then violated rules. */
const MAX_ROUNDS = 10;

async function mergeWithService(invocation: Invocation, body: object, files: SchemaFiles): Promise<ServiceResponse> {
  const take = text(invocation.values, 'take');
  const query = { force: isSet(invocation.values, 'force') };
  // The member is absent until there is a conflict to resolve.
  let resolve: { place: MergeLocation; take: string }[] | undefined;
  for (let round = 1; ; round += 1) {
    const answer = await requestAnyStatus(invocation, 'mergeSnapshot', { query, body: { ...body, resolve } });
    if (answer.status === 200) return answer;
    const conflicts = conflictsIn(answer.text);
    if (take === undefined || conflicts.length === 0 || round === MAX_ROUNDS)
      throw new OperatorError(describeFailure(answer, files));
    resolve = [...(resolve ?? []), ...conflicts.map(({ extensions: { place } }) => ({ place, take }))];
  }
}

function conflictsIn(content: string): ConflictAnswer[] {
  const errors = errorsIn(content);
  const isConflict = errors[0]?.extensions.code === 'MERGE_CONFLICT';
  return isConflict ? (errors as unknown as ConflictAnswer[]) : [];
}

type CreateSnapshot = (files: Pick<SchemaFiles, 'parts' | 'lock'>) => object;

/** Reads the base from --base, or from the lock. */
async function readBase(
  invocation: Invocation,
  directory: string,
  { lock }: SchemaFiles,
  snapshotOf: CreateSnapshot,
): Promise<unknown> {
  const base = text(invocation.values, 'base');
  if (base !== undefined) return readNamedBase(invocation, base, snapshotOf);
  if (lock !== null) return lock.position;
  throw new UsageError(
    `${directory} has no dps.lock, which records the base of its files. Run "dps pull ${directory}" first, or set the base with --base.`,
  );
}

/** Reads a base that is a point in time, a folder, or a snapshot. */
async function readNamedBase(invocation: Invocation, base: string, snapshotOf: CreateSnapshot): Promise<unknown> {
  const stats = await stat(base).catch(() => null);
  if (stats === null) return base;
  if (!stats.isDirectory()) return parseDocument(await readDocument(invocation, base), base);
  return snapshotOf(await readSchemaFiles(base));
}

function describeFailure({ status, text: content }: ServiceResponse, files: SchemaFiles): string {
  const conflicts = conflictsIn(content);
  if (conflicts.length > 0) return describeConflicts(conflicts, files);
  const errors = errorsIn(content);
  if (errors.some(({ extensions: { code } }) => code === 'DIVERGED')) return OF_ANOTHER_LOG;
  if (errors.length === 0) return describeRejection(status, content);
  return errors.map((error) => located(error, files)).join('\n');
}

const OF_ANOTHER_LOG =
  'dps.lock belongs to another service, or the log has forked. Set the base of the files: --base DIR, a folder with their earlier content, or --base now, which overwrites all changes by others.';

function errorsIn(content: string): Errors['errors'] {
  try {
    return (JSON.parse(content) as Errors).errors;
  } catch {
    return [];
  }
}

/** Returns the message of a problem. It includes file and line if the problem is about the files. */
function located({ message, extensions: { path } }: Errors['errors'][number], files: SchemaFiles): string {
  if (path === undefined) return message;
  const [member, ...steps] = parseLocation(path);
  const location = member === 'theirs' ? (steps[0] === 'service' ? LOCK : files.placeOf(steps)) : null;
  return `${location ?? path}: ${message}`;
}
