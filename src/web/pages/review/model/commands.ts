import { quoteForShell } from '../../../../kernel/text.js';

/**
 * Returns the review as a shell command. The token comes from the shell variable TOKEN. The body ends at a line END,
 * which no line of JSON can equal.
 */
export function curlFor({ origin, path, body, reason }: CurlInput): string {
  const headers = ['Authorization: Bearer $TOKEN', 'Content-Type: application/json'].map((text) => ` -H "${text}"`);
  const why = reason.trim() === '' ? '' : ` -H ${quoted(`X-Reason: ${reason.trim()}`)}`;
  return `curl -sS ${quoted(`${origin}${path}`)}${headers.join('')}${why} --data-binary @- <<'END'\n${body}\nEND\n`;
}

interface CurlInput {
  origin: string;
  /** The path with the query. */
  path: string;
  /** JSON. */
  body: string;
  reason: string;
}

/** Returns the text quoted for a POSIX shell. */
const quoted = (text: string): string => quoteForShell(text.replaceAll(/[\r\n]+/g, ' '));
