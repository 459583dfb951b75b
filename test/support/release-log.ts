import { readFileSync, readdirSync } from 'node:fs';
import { readDocumentLine } from '../../src/log/document-lines.js';
import type { EventRecord } from '../../src/log/read.js';
import type { Snapshot } from '../../src/schema/snapshot/snapshot.js';

/** Written once by the release itself: `test/fixtures/log-<release>.json` next to its `.ndjson`. */
export interface ReleaseLog {
  release: string;
  /** `collection.created 1`: every type and version of the release. */
  declared: string[];
  /** A hash of the shape of the payload, for each of them. */
  shapes: Record<string, string>;
  /** The head of the log. */
  head: { position: number; hash: string };
  /** The hash of the schema after each position. */
  hashes: string[];
  /** The schema at some positions, including the last. */
  snapshots: { at: number; snapshot: Snapshot }[];
  /** API responses on this log, by path. */
  answers: Record<string, unknown>;
}

const FIXTURES = new URL('../fixtures/', import.meta.url);

export const fileOf = (release: string, kind: 'ndjson' | 'json'): URL => new URL(`log-${release}.${kind}`, FIXTURES);

/** The releases with a stored log. */
export function releasesWithLogs(): string[] {
  return readdirSync(FIXTURES)
    .flatMap((name) => /^log-(.+)\.ndjson$/.exec(name)?.[1] ?? [])
    .sort();
}

export function readReleaseLog(release: string): ReleaseLog {
  return JSON.parse(readFileSync(fileOf(release, 'json'), 'utf8')) as ReleaseLog;
}

/** The events of an export without their documents. */
export function parseLog(text: string): EventRecord[] {
  return text
    .trimEnd()
    .split('\n')
    .filter((line) => readDocumentLine(line) === null)
    .map((line) => JSON.parse(line) as EventRecord);
}
