import { generateKeyPairSync } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import type pg from 'pg';
import type { Config } from '../../config.js';
import { readKeyFile, type Keys, createKeys } from '../../log/signed-checkpoints/keys.js';
import { KEY_NAME, encodeNoteKey, noteKey, rawPublicKey } from '../../log/signed-checkpoints/checkpoint.js';
import { OperatorError } from '../../kernel/problem.js';
import { readDatabase } from '../../postgres/server.js';
import type { ExitCode, Invocation } from '../command.js';
import { withDatabase, silentLogger } from '../connections/database.js';
import { show, table } from '../output.js';

/** Lists the keys in the order of their creation. Only public keys are shown. */
export async function list(invocation: Invocation): Promise<ExitCode> {
  const keyList = await withKeys(invocation, (keys) => keys.list());
  const rows = keyList.map(({ key, from_position, created_at, kept }) => [
    String(from_position),
    created_at,
    kept,
    key,
  ]);
  show(invocation, keyList, () => table(['from position', 'since', 'kept', 'public key'], rows));
  return 0;
}

/** Prints the public keys, one per line, in the format of verifiers of signed notes. */
export async function showPublic(invocation: Invocation): Promise<ExitCode> {
  const keyList = await withKeys(invocation, (keys) => keys.list());
  const all = keyList.map(({ key }) => key);
  show(invocation, all, () => all.join('\n'));
  return 0;
}

/** Rotates the key. Existing checkpoints remain valid, because the old public key is kept. */
export async function rotate(invocation: Invocation): Promise<ExitCode> {
  const { made, all } = await withKeys(invocation, async (keys) => ({
    made: await keys.rotate(),
    all: await keys.list(),
  }));
  if (all.some(({ kept }) => kept === 'file')) {
    invocation.terminal.note('A service with CHECKPOINT_KEY_FILE continues to sign with the key of that file.');
  }
  show(invocation, made, () => `${made.key}\n(signs from now on; the private key is stored in the database)`);
  return 0;
}

/** Creates a private key for CHECKPOINT_KEY_FILE. Never overwrites a file. */
export async function create(invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.positionals;
  const { privateKey } = generateKeyPairSync('ed25519');
  await write(file, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  const key = encodeNoteKey(noteKey(KEY_NAME, rawPublicKey(privateKey)));
  show(invocation, { file, key }, () => `${key}\n(the private key is in ${file}; set CHECKPOINT_KEY_FILE to it)`);
  return 0;
}

async function write(file: string, content: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((cause: Error) => {
    throw new OperatorError(`${file} cannot be written (${cause.message}).`, { cause });
  });
  try {
    await handle.writeFile(content);
    await handle.sync();
  } catch (cause) {
    await unlink(file).catch(() => undefined);
    throw new OperatorError(`${file} cannot be written (${(cause as Error).message}).`, { cause });
  } finally {
    await handle.close();
  }
}

function withKeys<T>({ config }: Invocation, work: (keys: Keys) => Promise<T>): Promise<T> {
  const settings = config();
  return withDatabase(settings, async (pool) => work(await openKeys(pool, settings)));
}

/** Opens the key in CHECKPOINT_KEY_FILE or, without this setting, in the database. */
export async function openKeys(
  pool: pg.Pool,
  { schema, checkpoints }: Pick<Config, 'schema' | 'checkpoints'>,
): Promise<Keys> {
  const { database } = await readDatabase(pool);
  const fileKey = checkpoints.keyFile === null ? null : readKeyFile(checkpoints.keyFile);
  return createKeys({ pool, location: { database, schema }, fileKey, logger: silentLogger });
}
