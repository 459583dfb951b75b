/** Replaces `node:crypto` for the service's pure modules in browsers. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** In hexadecimal. */
export function hash(algorithm: 'sha256', text: string): string {
  if (algorithm !== 'sha256') throw new Error(`there is no ${String(algorithm)} here`);
  return bytesToHex(sha256(utf8ToBytes(text)));
}
