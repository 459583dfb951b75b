/** Readers and writers beside a change, and what they say of it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Ledger, Measured } from './load.js';

export interface Applications {
  /** What they meet while `work` goes on. */
  beside<T>(work: () => Promise<T>): Promise<Measured & { seconds: number; result: T }>;
  /** What they have written, all in all. */
  stop(): Promise<Ledger>;
}

export interface Load {
  url: string;
  rows: number;
  readers: number;
  writers: number;
}

export async function startApplications({ url, rows, readers, writers }: Load): Promise<Applications> {
  const args = [url, rows, readers, writers].map(String);
  const child = fork(new URL('./load.ts', import.meta.url), args, { execArgv: ['--import', 'tsx'] });
  await once(child, 'message');
  const ask = async <T>(message: string): Promise<T> => {
    const answered = once(child, 'message');
    child.send(message);
    return (await answered)[0] as T;
  };
  return {
    async beside(work) {
      child.send('begin');
      const started = performance.now();
      const result = await work();
      const seconds = (performance.now() - started) / 1_000;
      return { ...(await ask<Measured>('end')), seconds, result };
    },
    stop: () => ask<Ledger>('stop'),
  };
}
