/** Processes that outlive the command that started them. Other commands find them by their ids. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from './programs.js';

export interface Start {
  directory: string;
  /** Files with its process id (`NAME.pid`) and its output (`NAME.log`). */
  name: string;
  program: string;
  args: readonly string[];
  account: Account | undefined;
  environment?: Readonly<Record<string, string>>;
}

export function start({ directory, name, program, args, account, environment }: Start): void {
  const log = openSync(join(directory, `${name}.log`), 'a');
  const child = spawn(program, args, {
    cwd: directory,
    detached: true,
    stdio: ['ignore', log, log],
    env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', HOME: directory, ...environment },
    ...account,
  });
  closeSync(log);
  child.on('error', () => undefined);
  child.unref();
  if (child.pid === undefined) throw new Error(`${program} could not be started`);
  writeFileSync(join(directory, `${name}.pid`), String(child.pid));
}

/** Process id of a running process by name. */
export function pidOf(directory: string, name: string): number | undefined {
  return running(readPid(join(directory, `${name}.pid`)));
}

/** Process id of the postmaster in a data directory. */
export function postmasterOf(data: string): number | undefined {
  return running(readPid(join(data, 'postmaster.pid')));
}

function readPid(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || undefined;
  } catch {
    return undefined;
  }
}

interface Stat {
  state: string;
  parent: number;
}

function statOf(pid: number): Stat | undefined {
  try {
    // Read after the name, which may contain any character.
    const [state = '', parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\)\s*/s, '')
      .split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function running(pid: number | undefined): number | undefined {
  const state = pid === undefined ? undefined : statOf(pid)?.state;
  return state === undefined || state === 'Z' || state === 'X' ? undefined : pid;
}

/** A process with all of its descendants. */
export function treeOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? statOf(Number(name))?.parent : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const all = [pid];
  for (const each of all) all.push(...(children.get(each) ?? []));
  return all;
}

export function signal(pids: readonly (number | undefined)[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      if (pid !== undefined) process.kill(pid, name);
    } catch {
      // It has exited in the meantime.
    }
  }
}

/** Terminates a process. Kills it with its descendants if it still runs after `limit` milliseconds. */
export async function end(directory: string, name: string, limit = 15_000): Promise<void> {
  const pid = pidOf(directory, name);
  if (pid !== undefined) {
    const all = treeOf(pid);
    signal(all, 'SIGCONT');
    signal([pid], 'SIGTERM');
    const deadline = performance.now() + limit;
    while (running(pid) !== undefined && performance.now() < deadline)
      await new Promise((next) => setTimeout(next, 50));
    if (running(pid) !== undefined) signal(all, 'SIGKILL');
  }
  rmSync(join(directory, `${name}.pid`), { force: true });
}
