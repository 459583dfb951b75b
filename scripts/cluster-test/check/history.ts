/** Reads the recorded history. Shares no code with the service or the recorder. */
import { readFileSync } from 'node:fs';

/** A completed attempt. */
export interface Ended {
  /** Milliseconds since 1970. */
  began: number;
  ended: number;
  client: string;
  op: string;
  service: number;
  result: string;
  position: number | null;
  hash: string | null;
  batch: string | null;
  least: number;
}

interface Raw {
  at: number;
  kind: string;
  name?: string;
  phase?: string;
  process: string;
  op: string;
  service: number;
  result: string;
  position: number | null;
  hash?: string;
  batch?: string | null;
  least?: number;
}

export interface Recorded {
  /** Sorted by end time. */
  tries: Ended[];
  /** Started but never completed, because the writer was stopped. */
  open: Set<string>;
  faults: number;
}

function endedOf(raw: Raw, began: number): Ended {
  const { at: ended, process: client, op, service, result, position, hash = null, batch = null, least = 0 } = raw;
  return { began, ended, client, op, service, result, position, hash, batch, least };
}

export function readHistory(file: string): Recorded {
  const begun = new Map<string, number>();
  const tries: Ended[] = [];
  let faults = 0;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const raw = JSON.parse(line) as Raw;
    if (raw.kind === 'fault' && raw.phase === 'end') faults += 1;
    if (raw.kind === 'begin') begun.set(raw.op, raw.at);
    if (raw.kind !== 'end') continue;
    tries.push(endedOf(raw, begun.get(raw.op) ?? raw.at));
    begun.delete(raw.op);
  }
  return { tries, open: new Set(begun.keys()), faults };
}
