/** Reads `postmaster.pid`, the server's own record of its process and port. */
import { execFile } from 'node:child_process';
import { readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Postmaster {
  pid: number;
  port: number;
  /** True if it accepts connections. */
  ready: boolean;
}

/**
 * Lines of the file: pid, data directory, start time, port, socket directory, listen address, shared memory, status.
 */
export async function readPostmaster(home: string): Promise<Postmaster | null> {
  const text = await readFile(join(home, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  if (!Number.isInteger(pid) || pid < 2) return null;
  return { pid, port: Number.parseInt(lines[3] ?? '0', 10), ready: lines[7] === 'ready' };
}

/**
 * Returns the server that runs on these files, or null. After a crash the file may name a dead process or an unrelated
 * one.
 */
export async function runningPostmaster(home: string): Promise<Postmaster | null> {
  const noted = await readPostmaster(home);
  return noted && (await servesFrom(noted.pid, home)) ? noted : null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A postmaster's working directory is its data directory (Linux). Elsewhere its command line contains it. */
async function servesFrom(pid: number, home: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === 'linux') {
    const directory = await readlink(`/proc/${pid}/cwd`).catch(() => null);
    if (directory !== null) return directory === (await realpath(home));
  }
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.includes('postgres') && stdout.includes(home);
}
