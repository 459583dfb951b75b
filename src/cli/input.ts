/** Reads the input of commands: documents from files or stdin, and names of objects in arguments. */
import { readFile } from 'node:fs/promises';
import { load } from 'js-yaml';
import { conflictLine } from '../http/formats.js';
import { OperatorError } from '../kernel/problem.js';
import { INVALID_LOCATION, parseLocation } from '../schema/model/location.js';
import { OBJECT_KINDS, type ObjectName } from '../schema/model/objects.js';
import { type Invocation, UsageError } from './command.js';

export interface DocumentBody {
  type: string;
  content: Buffer;
}

/**
 * Reads a document without parsing it. The beginning of the file decides the media type.
 * @throws OperatorError if the file cannot be read
 */
export async function readDocument(invocation: Invocation, file: string): Promise<DocumentBody> {
  const content = await readContent(invocation, file);
  const line = conflictLine(content.toString('utf8'));
  if (line !== null) {
    throw new OperatorError(
      `${nameOf(file)}, line ${line}: the file contains a merge conflict marker, "<<<<<<<". Resolve the conflict first.`,
    );
  }
  // Every JSON document is also YAML, but the JSON parser is faster and stricter.
  const type = /^\s*[{[]/.test(content.toString('utf8', 0, 1024)) ? 'application/json' : 'application/yaml';
  return { type, content };
}

/**
 * Parses the document.
 * @param kind the expected kind of object
 * @throws OperatorError if it is neither JSON nor YAML, or not an object
 */
export function parseDocument(
  { type, content }: DocumentBody,
  file: string,
  kind: 'a change' | 'a policy' | 'a list of trust rules' = 'a change',
): Readonly<Record<string, unknown>> {
  const parsed = parse(type, content.toString('utf8'), file);
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Record<string, unknown>;
  throw new OperatorError(
    `${nameOf(file)} is ${kind === 'a change' ? 'neither a snapshot nor a diff' : `not ${kind}`}.`,
  );
}

function parse(type: string, content: string, file: string): unknown {
  try {
    return type === 'application/json' ? JSON.parse(content) : load(content);
  } catch (cause) {
    const [line = ''] = (cause as Error).message.split('\n');
    throw new OperatorError(`${nameOf(file)} is neither JSON nor YAML: ${line}`, { cause });
  }
}

/** Returns the name of the file for messages. */
export const nameOf = (file: string): string => (file === '-' ? 'The content of stdin' : file);

/**
 * Returns the content of a file, or of stdin for `-`.
 * @throws OperatorError if the file cannot be read
 */
export async function readContent({ terminal }: Invocation, file: string): Promise<Buffer> {
  if (file === '-') return Buffer.from(await terminal.read());
  return readFile(file).catch((cause: Error) => {
    throw new OperatorError(`${file} cannot be read (${cause.message}).`, { cause });
  });
}

/** The collection or field that an argument such as `posts` or `posts.title` names. */
interface NamedObject {
  collection: string;
  field?: string;
}

/**
 * Parses an argument.
 * @throws UsageError
 */
export function parseObjectName(text: string): NamedObject {
  const { collection, field } = parseLocation(text) ?? {};
  if (typeof collection !== 'string')
    throw new UsageError(`${JSON.stringify(text)} is not a valid place: ${INVALID_LOCATION}.`);
  return typeof field === 'string' ? { collection, field } : { collection };
}

/**
 * Parses the argument for an object other than a table: `view:active_posts`. Undefined if it names a collection or
 * field.
 */
export function parseObjectKind(text: string): ObjectName | undefined {
  const kind = OBJECT_KINDS.find((each) => text.startsWith(`${each}:`));
  return kind && { kind, id: text.slice(kind.length + 1) };
}

/** Returns the argument that `parseObjectKind` reads. */
export const objectArgument = ({ kind, id }: ObjectName): string => `${kind}:${id}`;
