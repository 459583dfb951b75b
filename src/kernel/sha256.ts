/** The hash of a text, where Node.js runs. */
import { hash } from 'node:crypto';

/** sha256 of a text as UTF-8, hex: whoever checks a chain brings one, so that a browser can do it as well. */
export type Sha256 = (text: string) => string;

/** By Node.js: not for browsers, which bring their own. */
export const sha256: Sha256 = (text) => hash('sha256', text);
