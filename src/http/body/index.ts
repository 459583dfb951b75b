/** Request bodies: JSON everywhere, YAML and uploads where a whole schema is sent. */
import type { IncomingMessage } from 'node:http';
import { checkJsonInSteps } from '../../schema/normal-form/json.js';
import { inTurns } from '../../turns.js';
import { refused, Refused } from '../errors.js';
import { parseYaml, YamlError } from '../formats/yaml.js';
import { parseJsonInSteps } from './large-json.js';
import { checkCharset, mediaType, type Notation, notationOf, notationOfFile, unsupported } from './media-type.js';
import { readUpload } from './multipart.js';
import { hasBody, readRaw } from './raw.js';

/** Nesting of a body, in levels. */
const MAX_DEPTH = 64;

/** A JSON body of at most `limit` bytes, as a value that is safe to walk. Throws `Refused`. */
export async function readJsonBody(req: IncomingMessage, limit: number): Promise<unknown> {
  const { type, charset } = checkedType(req);
  if (notationOf(type) !== 'json') throw unsupported(type, 'send application/json');
  checkCharset(charset);
  return parse('json', decode(await readRaw(req, limit)));
}

/**
 * A schema document of at most `limit` bytes: JSON, YAML, or a form with one file of either. Stands in
 * `{ "data": … }` or alone. Throws `Refused`.
 */
export async function readDocumentBody(req: IncomingMessage, limit: number): Promise<unknown> {
  const { type, charset } = checkedType(req);
  const notation = notationOf(type);
  if (type !== 'multipart/form-data' && notation === undefined) {
    throw unsupported(type, 'send application/json, application/yaml, or multipart/form-data with one file of either');
  }
  checkCharset(charset);
  const raw = await readRaw(req, limit);
  if (notation !== undefined) return withoutWrapper(await parse(notation, decode(raw)));
  const file = await readUpload(raw, req.headers['content-type'] ?? '');
  const text = decode(file.content);
  return withoutWrapper(await parse(notationOfFile(file.type, file.name, text), text));
}

function checkedType(req: IncomingMessage) {
  if (!hasBody(req)) throw refused('INVALID_PAYLOAD', 'A body is needed.');
  const coding = req.headers['content-encoding'] ?? 'identity';
  if (coding.toLowerCase() !== 'identity') {
    throw refused('UNSUPPORTED_MEDIA_TYPE', `The content coding ${JSON.stringify(coding)} is not supported.`, {
      details: { content_encoding: coding },
    });
  }
  return mediaType(req.headers['content-type']);
}

/** A byte-order mark in front is dropped. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused('INVALID_PAYLOAD', 'The body is not valid UTF-8.');
  }
}

async function parse(notation: Notation, text: string): Promise<unknown> {
  if (text.trim() === '') throw refused('INVALID_PAYLOAD', 'The body is empty.');
  const value = notation === 'json' ? await parseJson(text) : parseYamlBody(text);
  const problems = await inTurns(checkJsonInSteps(value, { maxDepth: MAX_DEPTH }));
  if (problems.length > 0) throw new Refused(problems);
  return value;
}

async function parseJson(text: string): Promise<unknown> {
  try {
    return await inTurns(parseJsonInSteps(text));
  } catch (error) {
    throw refused('INVALID_PAYLOAD', `The body is not valid JSON: ${(error as Error).message}.`);
  }
}

function parseYamlBody(text: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw refused('INVALID_PAYLOAD', `The body is not valid YAML: ${error.message}.`);
  }
}

function withoutWrapper(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const [member, ...others] = Object.entries(value);
  return others.length === 0 && member?.[0] === 'data' ? member[1] : value;
}
