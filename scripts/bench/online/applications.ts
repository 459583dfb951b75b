/** Readers and writers that run during a change, and their measurements. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Ledger, Measured, LoadCommand } from './load.js';

export interface Beside extends Measured {
  seconds: number;
}

export interface Applications {
  /**
   * Measures while `work` runs.
   * @param rate statements per second of all clients together; null for as many as possible
   */
  beside(rate: number | null, work: () => Promise<unknown>): Promise<Beside>;
  /** Everything that was written. */
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
  const tell = (command: LoadCommand): boolean => child.send(command);
  const ask = async <T>(command: LoadCommand): Promise<T> => {
    const answered = once(child, 'message');
    tell(command);
    return (await answered)[0] as T;
  };
  return {
    async beside(rate, work) {
      tell({ begin: { rate } });
      const started = performance.now();
      await work();
      const seconds = (performance.now() - started) / 1_000;
      return { ...(await ask<Measured>('end')), seconds };
    },
    stop: () => ask<Ledger>('stop'),
  };
}
