/** Reads the checkpoints and public keys for `dps verify`. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { OperatorError } from '../kernel/problem.js';
import {
  FILE_END,
  parseCheckpoint,
  NoteError,
  type NoteKey,
  parseNoteKeys,
} from '../log/signed-checkpoints/checkpoint.js';
import type { CheckpointFile, CheckedCheckpoint } from '../log/signed-checkpoints/compare-checkpoint.js';
import { type Invocation, UsageError, texts } from './command.js';

export interface CheckpointInput {
  files: CheckpointFile[];
  /** The trusted keys. If there are none, signatures are not verified. */
  keys: NoteKey[];
}

/**
 * Reads the files of --checkpoint and --key.
 * @throws OperatorError with the name of the invalid file
 */
export async function readCheckpoints({ values }: Pick<Invocation, 'values'>): Promise<CheckpointInput> {
  const [paths, keyFiles] = [texts(values, 'checkpoint'), texts(values, 'key')];
  if (paths.length === 0 && keyFiles.length > 0)
    throw new UsageError('--key requires --checkpoint, whose signature it verifies.');
  const files: CheckpointFile[] = [];
  for (const path of paths) for (const file of await listFilesAt(path)) files.push(await readOne(file));
  return { files, keys: await readKeys(keyFiles) };
}

/**
 * Reads public keys.
 * @param files the values of --key
 * @throws OperatorError if a file does not contain a public key
 */
export async function readKeys(files: readonly string[]): Promise<NoteKey[]> {
  const keys: NoteKey[] = [];
  for (const key of files) keys.push(...(await keysOf(key)));
  return keys;
}

/** Returns the files at a path. For a folder, these are all checkpoints in it. */
async function listFilesAt(path: string): Promise<string[]> {
  const stats = await stat(path).catch((cause: Error) => {
    throw new OperatorError(`${path} cannot be read (${cause.message}).`, { cause });
  });
  if (!stats.isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith(FILE_END)).sort((a, b) => (a < b ? -1 : 1));
  if (names.length === 0) throw new OperatorError(`${path} contains no checkpoint (*${FILE_END}).`);
  return names.map((name) => join(path, name));
}

/**
 * Maximum number of bytes. A larger file is neither a checkpoint nor a list of keys, and reading a device would never
 * end.
 */
const MAX_BYTES = 1024 * 1024;

async function startOf(file: string): Promise<Buffer> {
  return buffer(createReadStream(file, { end: MAX_BYTES })).catch((cause: Error) => {
    throw new OperatorError(`${file} cannot be read (${cause.message}).`, { cause });
  });
}

async function readOne(file: string): Promise<CheckpointFile> {
  const bytes = await startOf(file);
  try {
    return { file, checkpoint: parseCheckpoint(bytes) };
  } catch (cause) {
    if (!(cause instanceof NoteError)) throw cause;
    throw new OperatorError(`${file} ${cause.message}.`, { cause });
  }
}

async function keysOf(file: string): Promise<NoteKey[]> {
  const isKey = /^[^+]+\+[0-9a-f]{8}\+/.test(file);
  const text = isKey ? file : (await startOf(file)).toString();
  try {
    return parseNoteKeys(text);
  } catch (cause) {
    if (!(cause instanceof NoteError)) throw cause;
    throw new OperatorError(`${isKey ? 'The key of --key' : file} ${cause.message}.`, { cause });
  }
}

/** Returns one line per checkpoint, and a note about signatures that were not verified. */
export function describeCheckpoints(held: readonly CheckedCheckpoint[]): string[] {
  const lines = held.map(({ file, ok, position, time, reason, signed_by }) => {
    const what = `Checkpoint ${file} (position ${position}, ${time})`;
    if (!ok) return `${what} does not match the log: ${reason}.`;
    return `${what} matches the log: no event up to it has changed${signed_by === null ? '' : `; signed by ${signed_by}`}.`;
  });
  if (held.some(({ ok, signed_by }) => ok && signed_by === null)) {
    lines.push('No signature was verified. Pass the public key, which you must obtain separately, with --key.');
  }
  return lines;
}
