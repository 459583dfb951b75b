/** SHA-256 with Node.js. */
import { hash } from 'node:crypto';

/**
 * Returns the sha256 of a string as UTF-8, in hex. Callers pass the implementation as a parameter, so that the same code
 * verifies a chain in a browser.
 */
export type Sha256 = (text: string) => string;

/** The Node.js implementation. Browsers pass their own. */
export const sha256: Sha256 = (text) => hash('sha256', text);
