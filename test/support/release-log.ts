/** The logs of releases that are checked in, and what each release said of its own. */
import { readFileSync, readdirSync } from 'node:fs';
import { readDocumentLine } from '../../src/log/document-lines.js';
import type { EventRecord } from '../../src/log/read.js';
import type { Snapshot } from '../../src/schema/snapshot/snapshot.js';

/** Written once, by the release itself: `test/fixtures/log-<release>.json` beside its `.ndjson`. */
export interface ReleaseLog {
  release: string;
  /** `collection.created 1`: every type and version that the release declared. */
  declared: string[];
  /** The end of the log. */
  head: { position: number; hash: string };
  /** Hash of the schema after each position, from the first on. */
  hashes: string[];
  /** The schema at some positions, the last one among them. */
  snapshots: { at: number; snapshot: Snapshot }[];
  /** Answers of the API on this log, by path. */
  answers: Record<string, unknown>;
}

const FIXTURES = new URL('../fixtures/', import.meta.url);

export const fileOf = (release: string, kind: 'ndjson' | 'json'): URL => new URL(`log-${release}.${kind}`, FIXTURES);

/** The releases whose logs are here. */
export function releasesWithLogs(): string[] {
  return readdirSync(FIXTURES)
    .flatMap((name) => /^log-(.+)\.ndjson$/.exec(name)?.[1] ?? [])
    .sort();
}

export function readReleaseLog(release: string): ReleaseLog {
  return JSON.parse(readFileSync(fileOf(release, 'json'), 'utf8')) as ReleaseLog;
}

/** The events of an export, without the documents that they name. */
export function parseLog(text: string): EventRecord[] {
  return text
    .trimEnd()
    .split('\n')
    .filter((line) => readDocumentLine(line) === null)
    .map((line) => JSON.parse(line) as EventRecord);
}
