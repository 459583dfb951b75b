/**
 * The history in the format of Jepsen: one line for the start and one for the end of every attempt, with the process
 * that ran it. `check/` reads only this file and the database.
 */
import { appendFileSync } from 'node:fs';

interface Begin {
  kind: 'begin';
  /** The client: `w3`, `r1`. */
  process: string;
  /** The operation, the same for all of its attempts. Sent as X-Reason. */
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
  /** `unknown`: it may be in the log. `away`: nothing was changed, and it may be resent. */
  result: 'acknowledged' | 'refused' | 'away' | 'unknown' | 'read';
  status: number;
  position: number | null;
  /** Hash of the event that was read at that position. */
  hash?: string;
  batch?: string | null;
  code?: string;
  /** The oldest position that a read may return. */
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
  /** When commands were acknowledged (`Date.now`), in order. */
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
