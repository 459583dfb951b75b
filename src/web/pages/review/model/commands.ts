import { quoteForShell } from '../../../../kernel/shell.js';

/** The review as a shell command. The token comes from the shell variable TOKEN. No line of JSON is END alone. */
export function curlFor({ origin, path, body, reason }: CurlInput): string {
  const headers = ['Authorization: Bearer $TOKEN', 'Content-Type: application/json'].map((text) => ` -H "${text}"`);
  const why = reason.trim() === '' ? '' : ` -H ${quoted(`X-Reason: ${reason.trim()}`)}`;
  return `curl -sS ${quoted(`${origin}${path}`)}${headers.join('')}${why} --data-binary @- <<'END'\n${body}\nEND\n`;
}

interface CurlInput {
  origin: string;
  /** Including the query. */
  path: string;
  /** JSON. */
  body: string;
  reason: string;
}

/** Quoted for a POSIX shell. */
const quoted = (text: string): string => quoteForShell(text.replaceAll(/[\r\n]+/g, ' '));
