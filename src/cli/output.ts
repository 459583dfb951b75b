/* Output formats: columns for people, JSON for programs. */
import { chmod, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { text as readStream } from 'node:stream/consumers';
import { resolveTarget, replaceFile } from '../features/backup/file.js';
import { OperatorError, type Result } from '../kernel/problem.js';
import { HIDDEN } from '../kernel/text.js';
import { type Invocation, isSet, text, type Terminal, type ExitCode } from './command.js';

/** Formats a table. Each column is as wide as its widest cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return all.map((row) => line(row).trimEnd()).join('\n');
}

/** Formats JSON with an indentation of two spaces and without a final newline. */
export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Prints readable text, or JSON with --json. */
export function show({ values, terminal }: Invocation, value: unknown, render: () => string): void {
  terminal.print(isSet(values, 'json') ? json(value) : render());
}

/** Returns the value of a result. Throws an OperatorError for a rejection. */
export function unwrapResult<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new OperatorError(result.problems.map((problem) => problem.message).join(' '));
}

/** Writes to the --output file, or to stdout. @param content the text without its last line end */
export async function writeResult({ values, terminal }: Invocation, content: string): Promise<void> {
  const output = text(values, 'output');
  if (output === undefined) return terminal.print(content, { isExact: true });
  await writeOutput(output, `${content}\n`);
  terminal.note(`written to ${output}`);
}

/**
 * @throws OperatorError if the file cannot be written. An existing file is kept in this case, because half a snapshot
 * could describe a smaller schema
 */
export async function writeOutput(file: string, content: string): Promise<void> {
  await writeWhole(file, content).catch((cause: Error) => {
    throw new OperatorError(`${file} cannot be written (${cause.message}).`, { cause });
  });
}

/** Replaces the file as a whole. Devices, and files in folders without write permission, are written directly. */
async function writeWhole(file: string, content: string): Promise<void> {
  const location = await resolveTarget(file);
  if (location === null) return writeFile(file, content);
  const { mode } = location;
  try {
    await replaceFile(location, async (partial) => {
      await writeFile(partial, content, { flag: 'wx', flush: true });
      if (mode !== null) await chmod(partial, mode);
    });
  } catch (error) {
    if (mode === null || !NOT_BESIDE.has(String((error as NodeJS.ErrnoException).code))) throw error;
    await writeFile(file, content);
  }
}

const NOT_BESIDE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ENAMETOOLONG', 'EROFS', 'EBUSY', 'EXDEV']);

/** Escapes characters that move the cursor or are invisible. Names and comments are untrusted. */
export const toOneLine = (untrusted: string): string => untrusted.replaceAll(HIDDEN_IN_LINE, shownControl);

const HIDDEN_IN_LINE = new RegExp(HIDDEN, 'gu');

/** Escapes control characters like `toOneLine`, but keeps line breaks and the colours that this command uses. */
const manyLines = (text: string): string => text.replaceAll(NEITHER_LINE_NOR_COLOUR, shownControl);

const NEITHER_LINE_NOR_COLOUR = new RegExp(String.raw`(?!\u001B\[(?:0|2|3[0-7])m)(?![\n\t])${HIDDEN}`, 'gu');

/**
 * Uses the escapes of JSON, so that printed JSON keeps its values. JSON.stringify does not escape DEL and greater code
 * points.
 */
const shownControl = (control: string): string =>
  control < '\u007F'
    ? JSON.stringify(control).slice(1, -1)
    : Array.from(
        { length: control.length },
        (_, at) => `\\u${control.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join('');

/* Shows the progress of long work: a bar on a terminal, and otherwise an occasional line. Both go to stderr. */

export interface Progress {
  at(done: number, total: number): void;
  end(): void;
}

const WIDTH = 30;

/** Milliseconds between two updates of the bar, and between two lines. */
const REDRAW = 100;
const LINE = 5_000;

/**
 * Prints nothing at first, until the work takes longer or is done.
 * @param now returns the time in milliseconds
 */
export function createProgress(
  terminal: Terminal,
  label: string,
  now: () => number = () => performance.now(),
): Progress {
  const started = now();
  const every = terminal.rewrite ? REDRAW : LINE;
  let shown = started;
  let last = '';
  return {
    at: (done, total) => {
      const time = now();
      const complete = done >= total;
      if (!complete && time - shown < every) return;
      shown = time;
      const text = describe({ done, total, elapsed: time - started });
      if (text === last) return;
      last = text;
      if (terminal.rewrite) terminal.rewrite(`${label} ${renderBar(done, total)} ${text}`);
      else terminal.note(`${label}: ${text}`);
    },
    end: () => {
      if (last !== '') terminal.rewrite?.('');
    },
  };
}

/** Returns the bar in brackets, without numbers. It is full if there is nothing to do. */
export function renderBar(done: number, total: number): string {
  const filled = total === 0 ? WIDTH : Math.min(WIDTH, Math.floor((done / total) * WIDTH));
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}]`;
}

function describe({ done, total, elapsed }: { done: number; total: number; elapsed: number }): string {
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100));
  const left = done === 0 || done >= total ? null : Math.ceil(((elapsed / done) * (total - done)) / 1000);
  return `${percent} % (${done} of ${total})${left === null ? '' : `, about ${left} s left`}`;
}

/* Implements the terminal of commands. If output cannot be written, the command fails. */

type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>;

interface OpenTerminal {
  terminal: Terminal;
  /**
   * Waits until everything is written.
   * @returns the code, or 2 if results could not be written
   */
  finish(code: ExitCode): Promise<ExitCode>;
}

/** Escapes control sequences on a terminal. `print` throws an OperatorError once results cannot be written. */
export function createTerminal({ stdin, stdout, stderr, env }: Streams): OpenTerminal {
  let printed = false;
  let broken: NodeJS.ErrnoException | null = null;
  stdout.on('error', (error: NodeJS.ErrnoException) => (broken ??= error));
  // An error means that nobody reads the output anymore.
  stderr.on('error', () => undefined);
  // Names of tables may contain escape sequences. A CI log, or a later "cat" of the output, would execute them.
  const writeNote = (text: string): void => void stderr.write(`${manyLines(text)}\n`);
  const terminal: Terminal = {
    print(text, { isExact = false } = {}) {
      if (broken !== null) throw new OutputLost(broken);
      printed = true;
      stdout.write(`${isExact && !stdout.isTTY ? text : manyLines(text)}\n`);
    },
    note: writeNote,
    ...(stderr.isTTY && { rewrite: (line: string) => void stderr.write(`\r\u001B[2K${manyLines(line)}`) }),
    ...(stdin.isTTY && stderr.isTTY && { ask: (question: string) => askOn(stdin, stderr, manyLines(question)) }),
    colours: stdout.isTTY && !env['NO_COLOR'],
    read: () => readStream(stdin),
  };
  const finish = async (code: ExitCode): Promise<ExitCode> => {
    // A full device rejects even an empty write.
    if (printed) await new Promise<void>((resolve) => stdout.write('', () => resolve()));
    if (broken === null) return code;
    // If the reader closed the pipe, no message is needed.
    if (code !== 2 && broken.code !== 'EPIPE') writeNote(new OutputLost(broken).message);
    return 2;
  };
  return { terminal, finish };
}

class OutputLost extends OperatorError {
  constructor(cause: NodeJS.ErrnoException) {
    super(`The results cannot be written (${cause.message}).`, { cause });
  }
}

async function askOn(input: NodeJS.ReadStream, output: NodeJS.WriteStream, question: string): Promise<string> {
  const lines = createInterface({ input, output });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}
