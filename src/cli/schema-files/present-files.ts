import type { ShownEvent } from '../history-text.js';
import { OperatorError } from '../../kernel/operator-error.js';
import type { Invocation } from '../command.js';
import { askForData, askFully } from '../connections/service.js';
import { type SnapshotParts, documentsOf } from './contents.js';
import { fileNameOf, FOLDER, textOf } from './read-folder.js';
import { LOCK, type Lock, writeLock } from './lock.js';

export interface PresentFiles {
  /** By path in the directory, without the lock. */
  files: ReadonlyMap<string, string>;
  lock: Lock;
}

/** @throws OperatorError if the response has no hash or position */
export async function presentFiles(invocation: Invocation): Promise<PresentFiles> {
  const { text, headers } = await askFully(invocation, '/schema/snapshot');
  const snapshot = JSON.parse(text) as SnapshotParts & { service: string };
  const files = new Map<string, string>();
  for (const [name, document] of documentsOf(snapshot)) files.set(`${FOLDER}/${fileNameOf(name)}`, textOf(document));
  const hash = /^"([0-9a-f]{64})"$/.exec(headers.etag ?? '')?.[1];
  const position = headers['x-log-position'];
  if (hash === undefined || typeof position !== 'string') {
    throw new OperatorError(
      'The answer of the service lacks its hash or its position: something between here and it left them out.',
    );
  }
  return { files, lock: { hash, position: await placeOf(invocation, position), release: snapshot.service } };
}

/** All files of the directory, by path. */
export const withLock = ({ files, lock }: PresentFiles): Map<string, string> =>
  new Map([...files, [LOCK, writeLock(lock)]]);

/** `42-3f9a…`: a position of this log. */
async function placeOf(invocation: Invocation, position: string): Promise<string> {
  if (position === '0') return position;
  const { hash } = await askForData<ShownEvent>(invocation, `/history/events/${encodeURIComponent(position)}`);
  return `${position}-${hash}`;
}
