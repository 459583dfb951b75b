/** Reads the private key of CHECKPOINT_KEY_FILE. */
import { type KeyObject, createPrivateKey } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { OperatorError } from '../../kernel/operator-error.js';

/** No key is longer. Reading a device would never end. */
const MAX_BYTES = 64 * 1024;

/**
 * Permissions that are too loose: any for others, writing for the group. Container platforms often mount secrets
 * readable by a group.
 */
const LOOSE = 0o027;

/**
 * Reads an Ed25519 key, PKCS #8 in PEM: `openssl genpkey -algorithm ed25519`.
 * @throws OperatorError that says what is wrong with the file
 */
export function readKeyFile(file: string): KeyObject {
  try {
    return keyIn(contentOf(file));
  } catch (cause) {
    throw new OperatorError(`The file of the setting CHECKPOINT_KEY_FILE can't be used: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

function contentOf(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new Error('it is no ordinary file');
    if (found.size > MAX_BYTES) throw new Error('it is too large for a key');
    if (process.platform !== 'win32' && (found.mode & LOOSE) !== 0) {
      throw new Error(
        `other users of the machine can read or change it (mode ${(found.mode & 0o777).toString(8)}): chmod 600`,
      );
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

const HOW = 'make one with "openssl genpkey -algorithm ed25519" or "dps keys new"';

function keyIn(pem: string): KeyObject {
  if (/BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(pem)) {
    throw new Error('its key is encrypted with a password, and nobody is there to type it');
  }
  if (/BEGIN PUBLIC KEY/.test(pem)) throw new Error('it holds a public key: the private one signs');
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new Error(`it holds no private key in PEM: ${HOW}`, { cause });
  }
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new Error(`it holds a key of another kind (${key.asymmetricKeyType}), not Ed25519: ${HOW}`);
  }
  return key;
}
