/* Reads the files of a folder. "dps pull" writes them and people edit them. */
import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type Event, EVENT_ID, getScalarValue, parseEvents } from 'js-yaml';
import { parseYaml, writeYaml, YamlError } from '../../http/formats.js';
import { OperatorError } from '../../kernel/problem.js';
import { type ObjectName, isObjectKind } from '../../schema/model/objects.js';
import { type ObjectFile, readObjectFile, writeObjectFile } from '../../schema/sql-text/object-file.js';
import {
  type AssembledSnapshot,
  assemble,
  LOCK,
  type Lock,
  readLock,
  type SnapshotParts,
  documentsOf,
  writeLock,
} from './contents.js';
import type { Invocation } from '../command.js';
import { describeRejection, requestAnyStatus, requestChecked } from '../connections/service.js';

/** Finds the line of a location in a YAML text. */

/** The maximum nesting of parsed texts. */
const MAX_DEPTH = 100;

type Steps = readonly (string | number)[];

/**
 * Returns the line of a value, starting at 1. For a missing value, returns the line of its parent. The text must be
 * valid YAML.
 */
export function lineOf(text: string, path: Steps): number {
  const reader: Reader = { text, events: parseEvents(text, { maxDepth: MAX_DEPTH }), at: 0 };
  while (reader.events[reader.at]?.type === EVENT_ID.DOCUMENT) reader.at += 1;
  return lineAt(text, offsetOf(reader, path) ?? 0);
}

/** Returns the line of the first alias. Null if there is none. */
export function aliasLine(text: string): number | null {
  if (!text.includes('*')) return null;
  const alias = parseEvents(text, { maxDepth: MAX_DEPTH }).find((event) => event.type === EVENT_ID.ALIAS);
  return alias === undefined ? null : lineAt(text, alias.anchorStart);
}

/**
 * Returns the line of an offset, starting at 1.
 * @param offset in UTF-16 units
 */
const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

interface Reader {
  text: string;
  events: readonly Event[];
  at: number;
}

/**
 * Returns the start of the value at `path`, or of its deepest existing parent. Moves the reader to the end of the
 * value.
 */
function offsetOf(reader: Reader, path: Steps | null): number | undefined {
  const event = reader.events[reader.at];
  reader.at += 1;
  if (event === undefined) return undefined;
  if (event.type === EVENT_ID.SCALAR) return event.valueStart;
  if (event.type === EVENT_ID.SEQUENCE) return findInSequence(reader, path) ?? event.start;
  if (event.type === EVENT_ID.MAPPING) return findInMapping(reader, path) ?? event.start;
  return undefined;
}

const isEnd = ({ events, at }: Reader): boolean => events[at] === undefined || events[at]?.type === EVENT_ID.POP;

function findInSequence(reader: Reader, path: Steps | null): number | undefined {
  let start: number | undefined;
  for (let index = 0; !isEnd(reader); index += 1) {
    const isMeant = path !== null && path[0] === index;
    const offset = offsetOf(reader, isMeant ? path.slice(1) : null);
    if (isMeant) start = offset;
  }
  reader.at += 1;
  return start;
}

function findInMapping(reader: Reader, path: Steps | null): number | undefined {
  let keyOffset: number | undefined;
  while (!isEnd(reader)) {
    const key = reader.events[reader.at];
    const start = offsetOf(reader, null);
    const name = key?.type === EVENT_ID.SCALAR ? getScalarValue(reader.text, key) : undefined;
    const isMeant = path !== null && path.length > 0 && path[0] === name;
    const offset = offsetOf(reader, isMeant ? path.slice(1) : null);
    // A member begins at its name. A nested value begins further inside.
    if (isMeant) keyOffset = path.length === 1 ? start : (offset ?? start);
  }
  reader.at += 1;
  return keyOffset;
}

/**
 * Converts names of collections to names of files, and back. File names contain only characters that every file system
 * allows: lower-case letters of ASCII, digits, `_`, `-`, and `%` with two hexadecimal digits for each other byte. Two
 * collections never have the same file, even if the file system ignores case. The longest name (63 bytes) results in
 * 194 characters.
 */

const END = '.yaml';

const PLAIN = /^[a-z0-9_-]$/;

/** Matches names of devices on Windows, where they are reserved with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** Returns the file of a collection: `posts.yaml`, `%50osts.yaml`. */
export const fileNameOf = (collection: string): string => stemOf(collection) + END;

function stemOf(collection: string): string {
  // A name with a leading hyphen would look like an option.
  const first = DEVICE.test(collection) || collection.startsWith('-') ? 1 : 0;
  const bytes = [...Buffer.from(collection, 'utf8')];
  return bytes.map((byte, index) => (index < first ? escaped(byte) : renderByte(byte))).join('');
}

function renderByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return PLAIN.test(character) ? character : escaped(byte);
}

const escaped = (byte: number): string => `%${byte.toString(16).padStart(2, '0')}`;

/** Returns the collection of a file. Null for other files. */
export function collectionOf(fileName: string): string | null {
  const name = nameOfStem(fileName.slice(0, -END.length));
  return name !== null && fileNameOf(name) === fileName ? name : null;
}

const SQL_END = '.sql';

/** Returns the file of an object: `objects/view.adults.sql`. */
const objectFileOf = ({ kind, id }: ObjectName): string => `${OBJECT_FOLDER}/${kind}.${stemOf(id)}${SQL_END}`;

/** Returns the object of a file. Null for other files. */
export function objectOf(file: string): ObjectName | null {
  const [, kind, stem = ''] = /^([a-z_]+)\.([^.]+)\.sql$/.exec(file.slice(OBJECT_FOLDER.length + 1)) ?? [];
  const id = nameOfStem(stem);
  if (id === null || !isObjectKind(kind)) return null;
  return objectFileOf({ kind, id }) === file ? { kind, id } : null;
}

function nameOfStem(stem: string): string | null {
  return /^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(stem) ? decoded(stem) : null;
}

function decoded(stem: string): string | null {
  try {
    return decodeURIComponent(stem);
  } catch {
    return null;
  }
}

export const FOLDER = 'collections';
export const OBJECT_FOLDER = 'objects';
export const FOLDERS = [FOLDER, OBJECT_FOLDER] as const;

/** Maximum number of bytes of a file. A table with 1,600 columns needs a tenth of this. */
const MAX_FILE = 16 * 1024 * 1024;
const MAX_LOCK = 64 * 1024;
/** Limits for the values and characters of a YAML file. */
const LIMITS = { values: 500_000, characters: MAX_FILE } as const;

export interface SchemaFiles extends AssembledSnapshot {
  lock: Lock | null;
  /**
   * Returns the file and line, such as `collections/posts.yaml:12`, for a location in the snapshot: `['fields', 3,
   * 'meta', 'note']`.
   */
  placeOf(path: Steps): string | null;
}

type Document = { [member: string]: unknown };

/** @throws OperatorError with file and line */
export async function readSchemaFiles(directory: string): Promise<SchemaFiles> {
  const documents = new Map<string, { text: string; document: Document }>();
  for (const name of await listNames(directory, FOLDER)) {
    if (!/\.ya?ml$/i.test(name)) continue;
    const text = await readWithin(directory, join(FOLDER, name), MAX_FILE);
    const document = parseCollection(text, name);
    documents.set(document['collection'] as string, { text, document });
  }
  const assembled = assemble([...documents.values()].map(({ document }) => document));
  const lock = await readLockIn(directory);
  const objects = await readObjectFiles(directory);
  const hasObjects = lock?.objects === true || objects.length > 0;
  const placeOf = ([part, index, ...rest]: Steps): string | null => {
    if (part === 'objects') return objectPlace(objects[index as number], rest);
    const origin = assembled.origins[part as keyof AssembledSnapshot['origins']]?.[index as number];
    const text = origin && documents.get(origin.collection)?.text;
    if (origin === undefined || text === undefined) return null;
    return `${FOLDER}/${fileNameOf(origin.collection)}:${lineOf(text, [...origin.at, ...rest])}`;
  };
  const parts = { ...assembled.parts, ...(hasObjects && { objects: objects.map(({ object }) => object) }) };
  return { ...assembled, parts, lock, placeOf };
}

/** @throws OperatorError with file and line */
async function readObjectFiles(directory: string): Promise<ObjectFile[]> {
  const files: ObjectFile[] = [];
  for (const name of await listNames(directory, OBJECT_FOLDER)) {
    if (!name.toLowerCase().endsWith(SQL_END)) continue;
    const file = `${OBJECT_FOLDER}/${name}`;
    const read = readObjectFile(withLineFeeds(await readWithin(directory, join(OBJECT_FOLDER, name), MAX_FILE)));
    if ('message' in read) throw new OperatorError(`${file}:${read.line}: ${read.message}.`);
    const own = objectFileOf(read.object);
    if (own !== file)
      throw new OperatorError(
        `${file}:${read.lines.definition}: the file of ${JSON.stringify(read.object.id)} must be named ${own}.`,
      );
    files.push(read);
  }
  return files;
}

/** Replaces CRLF, which Git may use when it checks files out. */
export const withLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n');

function objectPlace(file: ObjectFile | undefined, [member]: Steps): string | null {
  if (file === undefined) return null;
  const isOwn = member === 'comment' || member === 'indexes' || member === 'enabled';
  const line = isOwn ? file.lines[member] : file.lines.definition;
  return `${objectFileOf(file.object)}:${line}`;
}

/** Returns the sorted names in the folder. Empty if the folder does not exist. */
export async function listNames(directory: string, folder: (typeof FOLDERS)[number]): Promise<string[]> {
  try {
    await expectInside(directory, folder);
    return (await readdir(join(directory, folder))).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Reads the lock. Null if there is none. */
export async function readLockIn(directory: string): Promise<Lock | null> {
  try {
    return readLock(await readWithin(directory, LOCK, MAX_LOCK), LOCK);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** True for the error of a file that does not exist. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * Reads a regular file, including through a link inside the directory.
 * @throws OperatorError
 */
export async function readWithin(directory: string, file: string, limit: number): Promise<string> {
  const path = await expectInside(directory, file);
  const { size } = await expectFile(path, file);
  if (size > limit) throw new OperatorError(`${file}:1: the file has ${size} bytes, but the limit is ${limit}.`);
  const bytes = await readFile(path);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new OperatorError(`${file}:1: the file is not valid UTF-8 text.`, { cause });
  }
}

async function expectFile(path: string, file: string): Promise<{ size: number }> {
  const stats = await lstat(path);
  // Reading a pipe would wait for a process that writes to it.
  if (!stats.isFile()) throw new OperatorError(`${file} is not a regular file. Nothing was read.`);
  return stats;
}

/**
 * Resolves a name in the directory.
 * @throws OperatorError if the file does not exist or is outside the directory
 */
async function expectInside(directory: string, file: string): Promise<string> {
  const root = await realpath(directory);
  const path = await realpath(join(directory, file)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOTDIR' ? new OperatorError(`${directory} is not a directory.`, { cause: error }) : error;
  });
  if (path.startsWith(root + sep)) return path;
  throw new OperatorError(`${file} is a link to a file outside ${directory}, which dps does not follow.`);
}

const MEMBERS: ReadonlySet<string> = new Set(['collection', 'renamed_from', 'meta', 'schema', 'fields', 'relations']);

function parseCollection(text: string, name: string): Document {
  const file = `${FOLDER}/${name}`;
  const at = (path: Steps): string => `${file}:${lineOf(text, path)}`;
  const document = parsed(text, file);
  if (!isDocument(document))
    throw new OperatorError(`${file}:1: the file must contain a collection with its fields and relations.`);
  const { collection } = document;
  if (typeof collection !== 'string')
    throw new OperatorError(`${at(['collection'])}: collection is required and must be the name of the collection.`);
  if (collectionOf(name) !== collection) {
    throw new OperatorError(
      `${at(['collection'])}: the file of ${JSON.stringify(collection)} must be named ${FOLDER}/${fileNameOf(collection)}.`,
    );
  }
  for (const member of Object.keys(document)) {
    if (!MEMBERS.has(member))
      throw new OperatorError(
        `${at([member])}: unknown member ${JSON.stringify(member)}; known members: ${[...MEMBERS].join(', ')}.`,
      );
  }
  for (const part of ['fields', 'relations']) expectList(document, part, at);
  return document;
}

function expectList(document: Document, part: string, at: (path: Steps) => string): void {
  const list = document[part];
  if (!Array.isArray(list))
    throw new OperatorError(`${at([part])}: ${part} is required and must be a list; write [] for none.`);
  const owner = part === 'fields' ? 'collection' : 'many_collection';
  for (const [index, each] of list.entries()) {
    if (!isDocument(each)) throw new OperatorError(`${at([part, index])}: must be an object.`);
    if (each[owner] !== undefined && each[owner] !== document['collection'])
      throw new OperatorError(
        `${at([part, index, owner])}: fields and relations of another collection belong in the file of that collection.`,
      );
  }
}

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string, file: string): unknown {
  try {
    const document = parseYaml(text, LIMITS);
    const alias = aliasLine(text);
    if (alias === null) return document;
    throw new OperatorError(`${file}:${alias}: YAML aliases (*name) are not supported. Write the value out.`);
  } catch (cause) {
    if (!(cause instanceof YamlError)) throw cause;
    const [, line = '1'] = /\(line (\d+), column \d+\)/.exec(cause.message) ?? [];
    throw new OperatorError(`${file}:${line}: ${cause.message}.`, { cause });
  }
}

const textOf = (document: object): string => writeYaml(document);

interface FolderFiles {
  /** The texts of the files by path in the directory, without the lock. */
  files: ReadonlyMap<string, string>;
  lock: Lock;
}

/** @throws OperatorError if the response has no hash or position */
export async function readPresentFiles(invocation: Invocation): Promise<FolderFiles> {
  const { text, headers } = await requestChecked(invocation, 'getSnapshot');
  const snapshot = JSON.parse(text) as SnapshotParts & { service: string };
  const files = new Map<string, string>();
  for (const [name, document] of documentsOf(snapshot)) files.set(`${FOLDER}/${fileNameOf(name)}`, textOf(document));
  const { objects } = snapshot;
  for (const object of objects ?? []) files.set(objectFileOf(object), writeObjectFile(object));
  const hash = /^"([0-9a-f]{64})"$/.exec(headers.get('etag') ?? '')?.[1];
  const position = headers.get('x-log-position');
  if (hash === undefined || position === null) {
    throw new OperatorError(
      'The response of the service does not contain the hash or the position of the schema. A proxy may have removed the headers.',
    );
  }
  const place = await placeOf(invocation, position);
  const lock: Lock = { hash, position: place, release: snapshot.service, ...(objects && { objects: true as const }) };
  return { files, lock };
}

/** Returns all files in the directory by path, including the lock. */
export const withLock = ({ files, lock }: FolderFiles): Map<string, string> =>
  new Map([...files, [LOCK, writeLock(lock)]]);

/**
 * Returns a position of this log such as `42-3f9a…`. The hash is missing if the scope of the token does not cover the
 * history. The service cannot then detect that the files were pulled from another log.
 */
async function placeOf(invocation: Invocation, position: string): Promise<string> {
  if (position === '0') return position;
  const { status, text: content } = await requestAnyStatus(invocation, 'getEvent', { params: { position } });
  if (status === 403) return position;
  if (status !== 200) throw new OperatorError(describeRejection(status, content));
  return `${position}-${(JSON.parse(content) as { data: { hash: string } }).data.hash}`;
}
