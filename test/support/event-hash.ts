/** The hash of an event in one step, for comparison with the chain. */
import { canonicalJson } from '../../src/kernel/canonical.js';
import { sha256 } from '../../src/kernel/sha256.js';
import { type Hashed, serializeAroundData } from '../../src/log/event-hash.js';
import type { StoredEvent } from '../../src/schema/model/events.js';

/** sha256 (hex) of the previous hash and the canonical event without its hashes. */
export function eventHash(event: Hashed | StoredEvent): string {
  const { before, after } = serializeAroundData(event, canonicalJson);
  return sha256(event.previous_hash + before + canonicalJson(event.data) + after);
}
