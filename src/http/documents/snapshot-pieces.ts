/**
 * Writes and reads snapshots in pieces of bytes. Each piece is cached until its documents change. Writing a snapshot
 * after a change therefore copies bytes, and reading one compares bytes.
 */
import { createAttachment } from '../../kernel/attachment.js';
import { type DigestedBytes, createJoiner } from '../../reads/rendered-cache.js';
import type { Resumable } from '../../kernel/resumable.js';
import { recordBytes } from '../../kernel/scheduler.js';
import { objectsInOrder } from '../../schema/model/order.js';
import type { State } from '../../schema/model/state.js';
import {
  collectionDocumentOf,
  fieldDocumentsOf,
  orderObjectMembers,
  relationDocumentsOf,
} from '../../schema/snapshot/documents.js';
import { createRenderings } from '../../schema/snapshot/collection-cache.js';
import { SNAPSHOT_VERSION, VENDOR, noteSnapshot } from '../../schema/snapshot/snapshot.js';
import { BYTE, endOfContainer, parseFragment, skipSpace } from '../body/json.js';

/** The JSON of documents of one collection, at most `TOGETHER`. */
interface Piece {
  collection: string;
  /** The JSON of these documents, joined by commas. */
  bytes: Buffer;
  documents: readonly object[];
}

const PARTS = ['collections', 'fields', 'relations'] as const;

type Pieces = Record<(typeof PARTS)[number], Piece[]>;

/**
 * Maximum number of documents per piece. Many small collections then need few pieces, and the pieces of a large
 * collection stay short.
 */
const TOGETHER = 50;

/** The pieces of the documents of one collection. The key is the array or document that they represent. */
const piecesBySubject = createAttachment<object, readonly Piece[]>();

function* piecesOf(collection: string, key: object, documents: readonly object[]): Resumable<readonly Piece[]> {
  const cached = piecesBySubject.get(key);
  if (cached !== undefined) return cached;
  const pieces: Piece[] = [];
  for (let start = 0; start < documents.length; start += TOGETHER) {
    const together = documents.slice(start, start + TOGETHER);
    const bytes = Buffer.from(together.map((document) => JSON.stringify(document)).join(','));
    recordBytes(bytes.length);
    pieces.push({ collection, bytes, documents: together });
    yield;
  }
  piecesBySubject.set(key, pieces);
  return pieces;
}

type PiecesOfNode = Record<(typeof PARTS)[number], readonly Piece[]>;

const renderings = createRenderings(function* (state, node): Resumable<PiecesOfNode> {
  const { collection } = node.collection;
  const document = collectionDocumentOf(state, node);
  const fields = yield* fieldDocumentsOf(state, node);
  const relations = relationDocumentsOf(state, node);
  return {
    collections: yield* piecesOf(collection, document, [document]),
    fields: yield* piecesOf(collection, fields, fields),
    relations: yield* piecesOf(collection, relations, relations),
  };
});

function* snapshotPieces(state: State, include: (collection: string) => boolean): Resumable<Pieces> {
  const pieces: Pieces = { collections: [], fields: [], relations: [] };
  const { names, rendered } = yield* renderings(state);
  for (const [index, name] of names.entries()) {
    if (include(name)) for (const part of PARTS) pieces[part].push(...(rendered[index]?.[part] ?? []));
  }
  return pieces;
}

const headOf = (release: string): string =>
  `{"version":${SNAPSHOT_VERSION},"service":${JSON.stringify(release)},"vendor":"${VENDOR}","collections":[`;

/**
 * Returns the bytes of `JSON.stringify(snapshotOf(…))`. `join` reuses the parts that have not changed since its last
 * call.
 */
export function* snapshotBytes(
  state: State,
  release: string,
  { include = () => true, join = createJoiner(), objects = false }: SnapshotBytesOptions = {},
): Resumable<DigestedBytes> {
  const { collections, fields, relations } = yield* snapshotPieces(state, include);
  const sections = [
    { before: headOf(release), pieces: bytesOf(collections) },
    { before: BEFORE_FIELDS, pieces: bytesOf(fields) },
    { before: BEFORE_RELATIONS, pieces: bytesOf(relations) },
    ...(objects ? [{ before: BEFORE_OBJECTS, pieces: objectBytes(state) }] : []),
  ];
  return yield* join(sections, END);
}

interface SnapshotBytesOptions {
  /** True on an instance that manages objects other than tables. */
  objects?: boolean;
  include?: (collection: string) => boolean;
  join?: ReturnType<typeof createJoiner>;
}

const [BEFORE_FIELDS, BEFORE_RELATIONS, END] = ['],"fields":[', '],"relations":[', ']}'] as const;

const BEFORE_OBJECTS = '],"objects":[';

const objectBytes = (state: State): Buffer[] =>
  objectsInOrder(state).map((object) => Buffer.from(JSON.stringify(orderObjectMembers(object))));

const bytesOf = (pieces: readonly Piece[]): Buffer[] => pieces.map(({ bytes }) => bytes);

/** Returns the JSON of all fields in order, in pieces of one or more fields. */
export function* fieldPieces(state: State): Resumable<Buffer[]> {
  const { fields } = yield* snapshotPieces(state, () => true);
  return bytesOf(fields);
}

/** Maximum number of bytes in pieces that differ. With more, parsing the whole body is faster. */
const MAX_DIFFERENT = 1024 * 1024;

const WRAPPER = '{"data":';

/**
 * Reads a snapshot that this service wrote and that mostly equals the current one. Equal pieces become the documents of
 * the state itself. They are not parsed, and comparing them later costs nothing.
 * @returns undefined if the body has another form, too many differences, or errors. The caller then parses it as usual.
 */
export function* readKnownSnapshot(body: Buffer, state: State, release: string): Resumable<unknown> {
  const reader = new PieceReader(body);
  const isWrapped = reader.passes(WRAPPER);
  if (!reader.passes(headOf(release))) return undefined;
  const pieces = yield* snapshotPieces(state, () => true);
  const collections = yield* readPart(reader, pieces.collections, BEFORE_FIELDS);
  const fields = collections && (yield* readPart(reader, pieces.fields, BEFORE_RELATIONS));
  const relations = fields && (yield* readPart(reader, pieces.relations, isWrapped ? `${END}}` : END));
  if (relations === undefined || !reader.isAtEnd()) return undefined;
  const snapshot = { version: SNAPSHOT_VERSION, service: release, vendor: VENDOR, collections, fields, relations };
  const all = PARTS.reduce((count, part) => count + pieces[part].length, 0);
  if (reader.different === 0 && reader.same === all) noteSnapshot(snapshot, state);
  return snapshot;
}

interface Parsed {
  document: unknown;
  /** The length in bytes. */
  length: number;
}

/** Compares a body with pieces, from a current position onwards. */
class PieceReader {
  /** Number of pieces so far that are equal and at the expected position. */
  same = 0;
  /** Number of bytes so far that were parsed. */
  different = 0;
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Advances over these bytes if they come next. */
  passes(bytes: string | Buffer): boolean {
    const next = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    const end = this.#at + next.length;
    if (end > this.#body.length || next.compare(this.#body, this.#at, end) !== 0) return false;
    this.#at = end;
    return true;
  }

  /** Advances over a whole piece if it comes next. */
  passesPiece(piece: Piece | undefined): piece is Piece {
    const start = this.#at;
    if (piece === undefined || !this.passes(piece.bytes)) return false;
    const after = this.#body[this.#at];
    if (after === BYTE.comma || after === BYTE.closeArray) return true;
    this.#at = start;
    return false;
  }

  isAtEndOfArray(): boolean {
    return this.#body[this.#at] === BYTE.closeArray;
  }

  isAtEnd(): boolean {
    return skipSpace(this.#body, this.#at) === this.#body.length;
  }

  /** Parses the next document without advancing. Undefined if there is none, or if it is too long. */
  *parseNext(): Resumable<Parsed | undefined> {
    const end = endOfContainer(this.#body, this.#at, MAX_DIFFERENT - this.different);
    if (end === undefined) return undefined;
    const document = yield* parseFragment(this.#body.subarray(this.#at, end));
    return document === undefined ? undefined : { document, length: end - this.#at };
  }

  passesDocument(length: number): void {
    this.#at += length;
    this.different += length;
  }
}

/** Reads the elements of an array, and the text `end` after them. */
function* readPart(reader: PieceReader, pieces: readonly Piece[], end: string): Resumable<unknown[] | undefined> {
  const documents: unknown[] = [];
  let firsts: ReadonlyMap<string, number> | undefined;
  let next = 0;
  for (let isFirst = true; !reader.isAtEndOfArray(); isFirst = false) {
    yield;
    if (!isFirst && !reader.passes(',')) return undefined;
    const expected = pieces[next];
    if (reader.passesPiece(expected)) {
      documents.push(...expected.documents);
      reader.same += 1;
      next += 1;
      continue;
    }
    const parsed = yield* reader.parseNext();
    if (parsed === undefined) return undefined;
    firsts ??= firstPieces(pieces);
    const first = firsts.get(collectionOf(parsed.document)) ?? -1;
    // After an added or removed collection, another piece comes next.
    documents.push(...readNext(reader, parsed, first > next ? pieces[first] : undefined));
    next = Math.max(next, first + 1);
  }
  return reader.passes(end) ? documents : undefined;
}

function readNext(reader: PieceReader, { document, length }: Parsed, piece: Piece | undefined): readonly unknown[] {
  if (reader.passesPiece(piece)) return piece.documents;
  reader.passesDocument(length);
  return [document];
}

/** Returns the index of the first piece of each collection. */
function firstPieces(pieces: readonly Piece[]): ReadonlyMap<string, number> {
  const firsts = new Map<string, number>();
  for (const [index, { collection }] of pieces.entries()) if (!firsts.has(collection)) firsts.set(collection, index);
  return firsts;
}

function collectionOf(document: unknown): string {
  const { collection, many_collection } = document as Record<string, unknown>;
  return String(collection ?? many_collection);
}
