/** Reads secrets from files: `NAME_FILE` names the file that contains the setting NAME, as with Docker secrets. */
import { closeSync, openSync, readSync } from 'node:fs';
import { OperatorError } from './kernel/operator-error.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** No secret is longer. Reading a device would never end. */
const MAX_BYTES = 64 * 1024;

/**
 * Returns `environment` with the secrets of its `…_FILE` variables. One trailing line break is removed, because editors
 * add it.
 * @throws OperatorError that names the setting, if both are set or the file cannot be read
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

/** Reads one byte more than the limit at most. */
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
