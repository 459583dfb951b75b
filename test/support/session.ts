import { type Client, type Reply, json } from './client.js';
import { type Transcript, createTranscript } from './transcript.js';

/** Headers of the transport, of the security policy (tested separately), and variable ones. */
const NOT_SHOWN =
  /^(date|connection|keep-alive|content-length|transfer-encoding|x-request-id|etag|vary|access-control-.*|content-security-policy|cross-origin-.*|origin-agent-cluster|referrer-policy|strict-transport-security|x-(content-type|dns|download|frame|permitted|xss).*)$/;

/** Readable JSON: values that fit are on one line. */
function renderJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= 120) return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Object.entries(value).map(([name, each]) => {
    const key = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `;
    return key + renderJson(each, inner);
  });
  return `${open}\n${wrapLines(members, inner).join('\n')}\n${indent}${close}`;
}

/** Members in as few lines as possible. */
function wrapLines(members: readonly string[], indent: string): string[] {
  const lines: string[] = [];
  members.forEach((member, index) => {
    const text = member + (index < members.length - 1 ? ',' : '');
    const last = lines.at(-1);
    const joins = last !== undefined && !`${last}${text}`.includes('\n') && last.length + text.length < 120;
    if (joins) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(indent + text);
  });
  return lines;
}

interface SessionRequest {
  method?: string;
  body?: unknown;
  /** The name of the body, if it was read before. */
  called?: string;
  text?: string;
  headers?: Record<string, string>;
  token?: string | null;
}

function sentLines({ headers = {}, body, called, text }: SessionRequest): string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  if (body !== undefined) lines.push(called ?? renderJson(body));
  if (text !== undefined) lines.push(text);
  return lines;
}

function answerLines({ status, headers, json: document, text }: Reply): string[] {
  const headerLines = [...headers].filter(([name]) => !NOT_SHOWN.test(name)).map((header) => header.join(': '));
  const lines = [
    `=> ${status}`,
    ...headerLines.filter((header) => header !== 'content-type: application/json; charset=utf-8'),
  ];
  if (document !== undefined) lines.push(renderJson(document));
  else if (text !== '') lines.push(text.trimEnd());
  return lines;
}

export interface Session extends Transcript {
  /** `GET /collections`, or POST with a body; recorded with its response. */
  ask(path: string, more?: SessionRequest): Promise<Reply>;
}

/** @param name of the file in `test/fixtures` */
export function createSession(name: string, client: Client): Session {
  const session = createTranscript(name);
  return {
    ...session,
    async ask(path, more = {}) {
      const { body, text, token } = more;
      const method = more.method ?? (body === undefined && text === undefined ? 'GET' : 'POST');
      const sent = body === undefined ? { body: text, headers: {} } : json(body);
      const headers = { ...sent.headers, ...more.headers };
      const reply = await client(path, {
        method,
        headers,
        ...(sent.body !== undefined && { body: sent.body }),
        ...(token !== undefined && { token }),
      });
      session.add([`${method} ${path}`, ...sentLines(more), ...answerLines(reply)].join('\n'));
      return reply;
    },
  };
}
