/** Checks the chain of an exported log beside the page: by the service's own code, with a hash of this bundle. */
import { sha256 as digest } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { checkExportedLog } from '../../../log/exported-chain.js';
import { readLines } from '../../../log/lines.js';
import type { FromSeal, ToSeal } from './messages.js';
import { createSealView } from './seal-view.js';

// What zod would compile is refused by the page's policy.
z.config({ jitless: true });

const sha256 = (text: string): string => bytesToHex(digest(utf8ToBytes(text)));

/** Milliseconds from one sign of life to the next. */
const TOLD = 100;

const say = (message: FromSeal): void => postMessage(message);

let take: (chunk: Uint8Array | null) => void = () => undefined;

/** The bytes as the page gives them; each is asked for. */
async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const chunk = await new Promise<Uint8Array | null>((resolve) => {
      take = resolve;
      say({ kind: 'more' });
    });
    if (chunk === null) return;
    yield chunk;
  }
}

async function check(wanted: readonly number[]): Promise<void> {
  const view = createSealView(wanted);
  let told = performance.now();
  const log = await checkExportedLog(readLines(chunks()), sha256, (event) => {
    view.add(event);
    if (performance.now() - told < TOLD) return;
    told = performance.now();
    say({ kind: 'progress', checked: event.position });
  });
  say({ kind: 'done', ok: log.ok, head: log.head, broken: log.broken ?? null, places: view.places() });
}

onmessage = ({ data }: MessageEvent<ToSeal>) => {
  if (data.kind === 'chunk') take(data.bytes);
  else check(data.wanted).catch((error: unknown) => say({ kind: 'failed', message: String(error) }));
};
