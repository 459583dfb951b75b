/** Secrets that stand in files: `NAME_FILE` names the file whose text is the setting NAME, as Docker and others mount them. */
import { closeSync, openSync, readSync } from 'node:fs';
import { OperatorError } from './kernel/operator-error.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** More is no secret; a device never ends. */
const MAX_BYTES = 64 * 1024;

/**
 * `environment` with the secrets that its `…_FILE` variables name. A line break at the end is an editor's.
 * @throws OperatorError that names the setting: both are given, or the file can't be read
 */
export function withSecretFiles(environment: Environment, secrets: readonly string[]): Environment {
  const read: Record<string, string> = {};
  for (const name of secrets) {
    const file = environment[`${name}_FILE`];
    if (file === undefined || file === '') continue;
    if (environment[name]) throw new OperatorError(`The settings ${name} and ${name}_FILE exclude each other.`);
    read[name] = textOf(file, name);
  }
  return { ...environment, ...read };
}

function textOf(file: string, name: string): string {
  try {
    const text = startOf(file);
    if (text.length > MAX_BYTES) throw new Error('it is too large for a secret');
    const secret = text.replace(/\r?\n$/, '');
    if (secret === '') throw new Error('it is empty');
    return secret;
  } catch (cause) {
    throw new OperatorError(`The file of the setting ${name}_FILE can't be used: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/** No more of it than shows that it is too large. */
function startOf(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    }
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(descriptor);
  }
}
