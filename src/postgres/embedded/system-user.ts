/** Selects the system user of the server. PostgreSQL does not run as root. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { OperatorError } from '../../kernel/operator-error.js';

const run = promisify(execFile);

export interface Account {
  uid: number;
  gid: number;
}

/** Debian and most other systems, and macOS. */
const USUAL_NAMES = ['postgres', '_postgres'];

/**
 * Returns the account for the server, or null for the current user. As root, it is the owner of existing data
 * (`serverDir`), else the system's `postgres` user, which is created if missing.
 */
export async function serverAccount(serverDir: string): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const owner = await stat(serverDir).catch(() => null);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of USUAL_NAMES) {
    const account = await lookUp(name);
    if (account) return account;
  }
  return createAccount();
}

async function lookUp(name: string): Promise<Account | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number.parseInt(uid.stdout, 10), gid: Number.parseInt(gid.stdout, 10) };
  } catch {
    return null;
  }
}

async function createAccount(): Promise<Account> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  } catch (cause) {
    const account = await lookUp('postgres');
    if (account) return account;
    throw new OperatorError(
      'PostgreSQL refuses to run as root and no "postgres" user could be created for it: ' +
        'start the service as an ordinary user, or set DATABASE_URL to a server of yours.',
      { cause },
    );
  }
  const account = await lookUp('postgres');
  if (!account) throw new OperatorError('The "postgres" user was created but can\'t be found.');
  return account;
}
