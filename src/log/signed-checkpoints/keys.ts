/* Manages the signing keys, which come from a file or from the database. Public keys stay in the database forever. */
import { type KeyObject, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { ProblemError, OperatorError } from '../../kernel/problem.js';
import { advisoryKey } from '../../postgres/locked-session.js';
import type { Logger } from '../../postgres/logger.js';
import { own } from '../../postgres/own-tables.js';
import { type Queryable, withClient } from '../../postgres/pool.js';
import { KEY_NAME, type NoteKey, encodeNoteKey, noteKey, rawPublicKey } from './checkpoint.js';

/* Reads the private key of CHECKPOINT_KEY_FILE. */

/** Maximum size of a key file. Without a limit, reading a device would never end. */
const MAX_BYTES = 64 * 1024;

/**
 * Permissions that are too loose: any permission for others, and write permission for the group. Reading by the group
 * is allowed, because container platforms often mount secrets that way.
 */
const LOOSE = 0o027;

/**
 * Reads an Ed25519 key, PKCS #8 in PEM: `openssl genpkey -algorithm ed25519`.
 * @throws OperatorError that says what is wrong with the file
 */
export function readKeyFile(file: string): KeyObject {
  try {
    return parsePrivateKey(contentOf(file));
  } catch (cause) {
    throw new OperatorError(`The file of CHECKPOINT_KEY_FILE cannot be used: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

function contentOf(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.size > MAX_BYTES) throw new Error('it is too large for a key');
    if (process.platform !== 'win32' && (stats.mode & LOOSE) !== 0) {
      throw new Error(
        `other users of the machine can read or change it (mode ${(stats.mode & 0o777).toString(8)}); run chmod 600`,
      );
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

const HOW = 'create one with "openssl genpkey -algorithm ed25519" or "dps keys new"';

function parsePrivateKey(pem: string): KeyObject {
  if (/BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(pem)) {
    throw new Error('its key is encrypted, and the service cannot ask for the password');
  }
  if (/BEGIN PUBLIC KEY/.test(pem)) throw new Error('it contains a public key, and signing needs the private key');
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new Error(`it contains no private key in PEM format: ${HOW}`, { cause });
  }
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new Error(`it contains a key of type ${key.asymmetricKeyType}, not Ed25519: ${HOW}`);
  }
  return key;
}

interface ListedKey {
  /** Has the format that verifiers expect: `name+id+key`. */
  key: string;
  /** The head of the log when the key was first recorded. */
  from_position: number;
  /** ISO 8601. */
  created_at: string;
  /** `replaced` means that the private key was in the database until another key replaced it. */
  kept: 'file' | 'database' | 'replaced';
}

interface Signer {
  key: NoteKey;
  privateKey: KeyObject;
}

export interface Keys {
  /**
   * Returns the current signer. It creates a key if there is none and records its public key. The database must
   * therefore be writable.
   */
  signer(): Promise<Signer>;
  /** Returns all recorded keys, oldest first. */
  list(): Promise<ListedKey[]>;
  /**
   * Creates a new key in the database and deletes the previous private key.
   * @throws ProblemError IN_USE if the key comes from a file
   */
  rotate(): Promise<ListedKey>;
}

interface KeysOptions {
  pool: pg.Pool;
  /** The name of the database and the name of the managed schema. */
  location: { database: string; schema: string };
  /** The key in CHECKPOINT_KEY_FILE. Null means that the key is in the database. */
  fileKey: KeyObject | null;
  logger: Logger;
}

const END_OF_LOG = `(SELECT greatest(coalesce(pg_catalog.max(position), 1), 1) FROM ${own.events})`;

const ADD = `INSERT INTO ${own.keys} (public_key, private_key, kept, from_position)
  SELECT $1::bytea, $2::bytea, $3::text, ${END_OF_LOG} ON CONFLICT DO NOTHING`;

const WARNING =
  'checkpoints are signed with a key in the database: anyone who can rewrite the log there can sign the rewritten log too, ' +
  'so they offer little proof. Set CHECKPOINT_KEY_FILE to a key outside the database';

/** Creates a key only when one is needed. Warns once if the key is in the database. */
export function createKeys({ pool, location, fileKey, logger }: KeysOptions): Keys {
  let ready: Signer | undefined;
  let warned = false;

  const fromFile = async (key: KeyObject): Promise<Signer> => {
    if (ready !== undefined) return ready;
    const publicKey = rawPublicKey(key);
    await pool.query(ADD, [publicKey, null, 'file']);
    return (ready = { key: noteKey(KEY_NAME, publicKey), privateKey: key });
  };

  const fromDatabase = async (): Promise<Signer> => {
    if (!warned) logger.warn(WARNING);
    warned = true;
    const stored = await storedSigner(pool);
    if (stored !== undefined) return stored;
    // Another process may have added a key first.
    await pool.query(ADD, newKey());
    const made = await storedSigner(pool);
    if (made === undefined) throw new Error('the key of checkpoints was deleted while it was created');
    return made;
  };

  return {
    signer: () => (fileKey === null ? fromDatabase() : fromFile(fileKey)),
    list: async () => {
      const { rows } = await pool.query<KeyRow>(`${KNOWN} ORDER BY id`);
      return rows.map(toKnown);
    },
    rotate: async () => {
      if (fileKey !== null) throw new ProblemError({ code: 'IN_USE', message: KEPT_IN_FILE });
      return withClient(pool, async (client) => {
        await client.query('BEGIN');
        await client.query('SELECT pg_catalog.pg_advisory_xact_lock($1)', [advisoryKey(location, 'checkpoints')]);
        await client.query(`UPDATE ${own.keys} SET private_key = NULL WHERE private_key IS NOT NULL`);
        const [publicKey, ...rest] = newKey();
        await client.query(ADD, [publicKey, ...rest]);
        const { rows } = await client.query<KeyRow>(`${KNOWN} WHERE public_key = $1`, [publicKey]);
        await client.query('COMMIT');
        return toKnown(rows[0] as KeyRow);
      });
    },
  };
}

const KEPT_IN_FILE =
  'CHECKPOINT_KEY_FILE sets the key. Create another file ("dps keys new FILE"), change the setting, and restart the service.';

function newKey(): [publicKey: Buffer, privateKey: Buffer, kept: string] {
  const { privateKey } = generateKeyPairSync('ed25519');
  return [rawPublicKey(privateKey), privateKey.export({ format: 'der', type: 'pkcs8' }), 'database'];
}

async function storedSigner(db: Queryable): Promise<Signer | undefined> {
  const { rows } = await db.query<{ private_key: Buffer }>(
    `SELECT private_key FROM ${own.keys} WHERE private_key IS NOT NULL`,
  );
  const stored = rows[0]?.private_key;
  if (stored === undefined) return undefined;
  const privateKey = storedKey(stored);
  if (privateKey === null) throw new ProblemError({ code: 'UNAVAILABLE', message: KEY_UNREADABLE });
  return { key: noteKey(KEY_NAME, rawPublicKey(privateKey)), privateKey };
}

const KEY_UNREADABLE =
  'The private key in service_keys is not an Ed25519 key: someone changed it in the database. Run "dps keys rotate" to replace it.';

/** Reads a private key of service_keys. Null if someone changed it. */
export function storedKey(content: Buffer): KeyObject | null {
  try {
    const key = createPrivateKey({ key: content, format: 'der', type: 'pkcs8' });
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

interface KeyRow {
  public_key: Buffer;
  from_position: number;
  created_at: Date;
  kept: ListedKey['kept'];
}

const KNOWN = `
  SELECT public_key, from_position, created_at,
         CASE WHEN kept = 'database' AND private_key IS NULL THEN 'replaced' ELSE kept END AS kept FROM ${own.keys}`;

function toKnown({ public_key, from_position, created_at, kept }: KeyRow): ListedKey {
  const key = encodeNoteKey(noteKey(KEY_NAME, public_key));
  return { key, from_position, created_at: created_at.toISOString(), kept };
}
