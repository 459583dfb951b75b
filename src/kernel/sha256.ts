/** SHA-256 with Node.js. */
import { hash } from 'node:crypto';

/**
 * Returns the sha256 of a text as UTF-8, in hex. Callers pass an implementation, so that a browser can verify a chain
 * too.
 */
export type Sha256 = (text: string) => string;

/** The Node.js implementation. Browsers pass their own. */
export const sha256: Sha256 = (text) => hash('sha256', text);
