/**
 * Reads and writes the backup format: gzip-compressed text that zcat can show. It has a header line, sections, and a
 * last line with a checksum of everything before it. A section is a line of JSON, its content, and a line `\.`. No
 * event and no row in COPY's text format can equal that last line.
 */
import { type Hash, createHash } from 'node:crypto';
import { z } from 'zod';
import { OperatorError } from '../../kernel/problem.js';
import { type NoteKey, NoteError, parseNote, verifyNote } from '../../log/signed-checkpoints/checkpoint.js';

export const FORMAT_VERSION = 1;

const count = z.int().nonnegative();

const HEADER = z.object({
  format: z.literal('dps-backup'),
  version: z.int(),
  release: z.string(),
  /** The newest migration of the service's own tables. */
  migration: count,
  database: z.object({ name: z.string(), version: z.string() }),
  schema: z.string(),
  /** ISO 8601. */
  taken_at: z.string(),
  head: z.object({ position: count, hash: z.string() }),
  /** Objects of the database that the backup does not contain, by kind. */
  not_included: z.record(z.string(), z.array(z.string())),
});
export type Header = z.output<typeof HEADER>;

const SECTION = z.discriminatedUnion('section', [
  z.object({ section: z.literal('events') }),
  z.object({ section: z.literal('account-rows'), table: z.string(), columns: z.array(z.string()) }),
  z.object({ section: z.literal('rows'), table: z.string(), columns: z.array(z.string()) }),
  z.object({ section: z.literal('sequences') }),
]);
export type Section = z.output<typeof SECTION>;

export const SEQUENCE = z.object({
  name: z.string(),
  /** Absent for the default schema. */
  schema: z.string().optional(),
  last_value: z.string(),
  is_called: z.boolean(),
});
export type SequenceValue = z.output<typeof SEQUENCE>;

/**
 * The service's own tables and columns in a backup, apart from the log. Passwords and tokens are hashes, as stored.
 * Everything that must not be revived or would grant access is excluded: sessions, stored responses, the secret of
 * access tokens, the tokens of environments, and the secrets and the state of webhooks. Restored webhooks are therefore
 * disabled. Users precede their tokens, identities and diagrams.
 */
export const SERVICE_TABLE_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'service_users',
    [
      'id',
      'email',
      'name',
      'password_hash',
      'password_set_by',
      'role',
      'status',
      'login_network',
      'created_at',
      'invitation_expires_at',
    ],
  ],
  ['service_former_users', ['id', 'email_hash', 'deleted_at']],
  ['service_tokens', ['id', 'user_id', 'name', 'token_hash', 'issued_by', 'created_at', 'expires_at', 'scope', 'rule']],
  ['service_exchanged_id_tokens', ['hash', 'expires_at']],
  ['service_identities', ['id', 'user_id', 'issuer', 'subject', 'issued_by', 'created_at']],
  ['service_presets', ['user_id', 'depth', 'folder', 'places']],
  ['service_environments', ['id', 'name', 'url', 'created_at']],
  ['service_webhooks', ['id', 'name', 'url', 'format', 'types', 'collections', 'created_at']],
]);

const END = z.object({
  end: z.literal(true),
  sections: count,
  sha256: z.string(),
  /** A signed note that contains `signedText`. */
  signature: z.string().optional(),
});

/** Returns the text that the checkpoint key signs. The space in the first line distinguishes it from a checkpoint. */
const signedText = (sha256: string): string => `data-platform-service backup\nsha256 ${sha256}\n`;

const END_OF_SECTION = '\\.\n';

export interface Contents {
  header: Header;
  sections: AsyncIterable<{ section: Section; content: AsyncIterable<Buffer> | Iterable<Buffer> }>;
  /** Signs the text of `signedText`. */
  sign?: (text: string) => string;
}

/** Yields the bytes of a backup before compression. */
export async function* writeBackup({ header, sections, sign }: Contents): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash('sha256');
  const hashed = (bytes: Buffer): Buffer => {
    hash.update(bytes);
    return bytes;
  };
  const line = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);
  let written = 0;
  yield hashed(line(header));
  for await (const { section, content } of sections) {
    yield hashed(line(section));
    for await (const chunk of content) yield hashed(chunk);
    yield hashed(Buffer.from(END_OF_SECTION));
    written += 1;
  }
  const sha256 = hash.digest('hex');
  yield line({ end: true, sections: written, sha256, ...(sign && { signature: sign(signedText(sha256)) }) });
}

export interface OpenedBackup {
  header: Header;
  /** Yields the sections in order. Content that the caller does not read to its end is skipped. */
  sections(): AsyncGenerator<{ section: Section; content: AsyncGenerator<Buffer, void, undefined> }, void, undefined>;
}

/**
 * Reads the output of `writeBackup`.
 * @param keys one of them must have signed the backup. Without keys, the signature is not verified
 * @throws OperatorError if the backup is invalid, damaged or truncated. A wrong checksum or signature is found at the
 * end
 */
export async function openBackup(bytes: AsyncIterable<Buffer>, keys: readonly NoteKey[] = []): Promise<OpenedBackup> {
  const reader = new Reader(bytes);
  const first = parsed(z.object({ format: z.literal('dps-backup'), version: z.int() }), await reader.line());
  if (first.version > FORMAT_VERSION) throw new OperatorError('A newer release wrote the backup. Use that release.');
  const header = parsed(HEADER, reader.last);
  return { header, sections: () => sectionsOf(reader, keys) };
}

async function* sectionsOf(reader: Reader, keys: readonly NoteKey[]): ReturnType<OpenedBackup['sections']> {
  for (let read = 0; ; read += 1) {
    // The checksum covers everything before this line.
    const sha256 = reader.digest();
    const line = await reader.line();
    if (line?.startsWith('{"end":')) {
      const end = parsed(END, line);
      if (end.sections !== read || end.sha256 !== sha256 || (await reader.line()) !== null) throw damaged();
      if (keys.length > 0) verifySignature(end, keys);
      return;
    }
    const section = parsed(SECTION, line);
    requireListed(section);
    const content = reader.content();
    yield { section, content };
    for await (const _ of content);
  }
}

function verifySignature({ signature, sha256 }: z.output<typeof END>, keys: readonly NoteKey[]): void {
  if (signature === undefined) throw new OperatorError('The backup is not signed, and --key requires a signature.');
  try {
    const note = parseNote(Buffer.from(signature));
    if (note.text !== signedText(sha256)) throw new NoteError('belongs to another file');
    verifyNote(note, keys);
  } catch (cause) {
    if (!(cause instanceof NoteError)) throw cause;
    throw new OperatorError(`The backup cannot be trusted: its signed note ${cause.message}.`, { cause });
  }
}

/**
 * Accepts only listed tables and columns. A manipulated file could otherwise add secrets, keys or stored responses to
 * the service's own tables.
 */
function requireListed(section: Section): void {
  if (section.section !== 'account-rows') return;
  const listed = SERVICE_TABLE_COLUMNS.get(section.table);
  const other = listed === undefined ? undefined : section.columns.find((column) => !listed.includes(column));
  if (listed !== undefined && other === undefined) return;
  const what = `${other === undefined ? '' : `column ${JSON.stringify(other)} of `}table ${JSON.stringify(section.table)}`;
  throw new OperatorError(
    `The backup contains rows for ${what}, which no backup of the service contains. Someone changed the file: do not use it.`,
  );
}

function parsed<T>(schema: z.ZodType<T>, line: string | null): T {
  if (line === null) throw new OperatorError('The backup is truncated: its end is missing.');
  const result = schema.safeParse(jsonOf(line));
  if (!result.success) throw damaged();
  return result.data;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const damaged = (cause?: unknown): OperatorError =>
  new OperatorError('The file is not a backup, or it is damaged. Do not use its content.', { cause });

/** Maximum length of a line of JSON. Rows are not read as lines. */
const LONGEST_LINE = 64 * 1024 ** 2;

/** Reads lines and contents from chunks of any size. */
class Reader {
  last: string | null = null;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #hash: Hash = createHash('sha256');
  #rest: Buffer = Buffer.alloc(0);

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** Returns the checksum of everything that was read. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Returns the next line without its line end. Null at the end of the file. */
  async line(): Promise<string | null> {
    let end = this.#rest.indexOf(10);
    while (end < 0) {
      if (this.#rest.length > LONGEST_LINE) throw damaged();
      if (!(await this.#more())) {
        if (this.#rest.length > 0) throw new OperatorError('The backup is truncated in the middle of a line.');
        this.last = null;
        return null;
      }
      end = this.#rest.indexOf(10);
    }
    this.last = this.#take(end + 1).toString('utf8', 0, end);
    return this.last;
  }

  /** Yields the content up to the end of the section. */
  async *content(): AsyncGenerator<Buffer, void, undefined> {
    while (this.#rest.length < END_OF_SECTION.length) if (!(await this.#more())) throw cutOff();
    if (this.#rest.toString('latin1', 0, END_OF_SECTION.length) === END_OF_SECTION) {
      this.#take(END_OF_SECTION.length);
      return;
    }
    for (;;) {
      const end = this.#rest.indexOf(`\n${END_OF_SECTION}`);
      if (end >= 0) {
        yield this.#take(end + 1);
        this.#take(END_OF_SECTION.length);
        return;
      }
      // The last bytes may be the beginning of the end marker, so they are kept.
      const sure = this.#rest.length - END_OF_SECTION.length;
      if (sure > 0) yield this.#take(sure);
      if (!(await this.#more())) throw cutOff();
    }
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#hash.update(taken);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#chunks.next().catch((cause: unknown) => {
      throw damaged(cause);
    });
    if (done === true) return false;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }
}

const cutOff = (): OperatorError => new OperatorError('The backup is truncated: the end of a section is missing.');
