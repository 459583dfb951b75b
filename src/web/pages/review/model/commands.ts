import { shellQuoted } from '../../../../kernel/shell.js';

/** What is reviewed, for a shell: without a token, which is in the shell's own TOKEN. No line of JSON is END alone. */
export function curlFor({ origin, path, body, reason }: CurlInput): string {
  const headers = ['Authorization: Bearer $TOKEN', 'Content-Type: application/json'].map((text) => ` -H "${text}"`);
  const why = reason.trim() === '' ? '' : ` -H ${quoted(`X-Reason: ${reason.trim()}`)}`;
  return `curl -sS ${quoted(`${origin}${path}`)}${headers.join('')}${why} --data-binary @- <<'END'\n${body}\nEND\n`;
}

interface CurlInput {
  origin: string;
  /** With its query. */
  path: string;
  /** JSON. */
  body: string;
  reason: string;
}

/** For a shell of POSIX, whatever it holds. */
const quoted = (text: string): string => shellQuoted(text.replaceAll(/[\r\n]+/g, ' '));
