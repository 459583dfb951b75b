/**
 * What happened, in Jepsen's manner: a line for the begin and one for the end of every try of every operation, with the
 * process that made it. Judged afterwards by `check/`, which knows nothing but this file and the database.
 */
import { appendFileSync } from 'node:fs';

interface Begin {
  kind: 'begin';
  /** The client: `w3`, `r1`. */
  process: string;
  /** The operation, the same for all of its tries; an X-Reason. */
  op: string;
  what: string;
  /** The process of the service, from 0. */
  service: number;
}

export interface End {
  kind: 'end';
  process: string;
  op: string;
  service: number;
  /** `unknown`: it may be in the log or not. `away`: nothing was done, and it may be sent again. */
  result: 'acknowledged' | 'refused' | 'away' | 'unknown' | 'read';
  status: number;
  position: number | null;
  /** Of the event at that position, as it was read. */
  hash?: string;
  batch?: string | null;
  code?: string;
  /** A read that must not be older than this. */
  least?: number;
}

interface Fault {
  kind: 'fault';
  name: string;
  phase: 'begin' | 'end';
}

export interface History {
  file: string;
  write(line: Begin | End | Fault): void;
  /** When a command was acknowledged (`Date.now`), in order. */
  acknowledged: number[];
  operations(): number;
}

export function createHistory(file: string): History {
  const acknowledged: number[] = [];
  let operations = 0;
  return {
    file,
    acknowledged,
    operations: () => operations,
    write(line) {
      const at = Date.now();
      if (line.kind === 'end') operations += 1;
      if (line.kind === 'end' && line.result === 'acknowledged') acknowledged.push(at);
      appendFileSync(file, `${JSON.stringify({ at, ...line })}\n`);
    },
  };
}
