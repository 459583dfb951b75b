/* Output formats: columns for people, JSON for programs. */
import { chmod, writeFile } from 'node:fs/promises';
import { resolveTarget, replaceFile } from '../features/backup/file.js';
import { OperatorError } from '../kernel/operator-error.js';
import type { Result } from '../kernel/problem.js';
import { type Invocation, isSet, text, type Terminal } from './command.js';

/** Columns as wide as their widest cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return all.map((row) => line(row).trimEnd()).join('\n');
}

/** Indented by two spaces, without a final newline. */
export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Readable text, or JSON with --json. */
export function show({ values, terminal }: Invocation, value: unknown, render: () => string): void {
  terminal.print(isSet(values, 'json') ? json(value) : render());
}

/** The value, or an OperatorError for a rejection. */
export function unwrapResult<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new OperatorError(result.problems.map((problem) => problem.message).join(' '));
}

/** To the file of --output, or to stdout. @param content without its last line end */
export async function writeResult({ values, terminal }: Invocation, content: string): Promise<void> {
  const output = text(values, 'output');
  if (output === undefined) return terminal.print(content, { isExact: true });
  await writeOutput(output, `${content}\n`);
  terminal.note(`written to ${output}`);
}

/**
 * @throws OperatorError if the file cannot be written; an existing file is then kept, because half a snapshot may
 * describe a smaller schema
 */
export async function writeOutput(file: string, content: string): Promise<void> {
  await writeWhole(file, content).catch((cause: Error) => {
    throw new OperatorError(`${file} cannot be written (${cause.message}).`, { cause });
  });
}

/** Replaces the file as a whole. Writes directly to devices and into folders without write permission. */
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

/** Names and comments are untrusted: control characters that move the cursor are escaped. */
export const toOneLine = (untrusted: string): string =>
  untrusted.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, shownControl);

/** The same for text with our own line breaks and colours. */
export const manyLines = (text: string): string => text.replaceAll(NEITHER_LINE_NOR_COLOUR, shownControl);

// eslint-disable-next-line no-control-regex
const NEITHER_LINE_NOR_COLOUR = /(?!\u001B\[(?:0|2|3[0-7])m)(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Uses JSON escapes, so that printed JSON keeps its values. JSON.stringify does not escape DEL and above. */
const shownControl = (control: string): string =>
  control < '\u007F'
    ? JSON.stringify(control).slice(1, -1)
    : Array.from(
        { length: control.length },
        (_, at) => `\\u${control.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join('');

/* Progress of long work: a bar on a terminal, otherwise an occasional line. Both go to stderr. */

export interface Progress {
  at(done: number, total: number): void;
  end(): void;
}

const WIDTH = 30;

/** Milliseconds between two updates of the bar, and between two lines. */
const REDRAW = 100;
const LINE = 5_000;

/**
 * Prints nothing until the work takes a while or is done.
 * @param now in milliseconds
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

/** The bar in brackets without numbers. Full if there is nothing to do. */
export function renderBar(done: number, total: number): string {
  const filled = total === 0 ? WIDTH : Math.min(WIDTH, Math.floor((done / total) * WIDTH));
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}]`;
}

function describe({ done, total, elapsed }: { done: number; total: number; elapsed: number }): string {
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100));
  const left = done === 0 || done >= total ? null : Math.ceil(((elapsed / done) * (total - done)) / 1000);
  return `${percent} % (${done} of ${total})${left === null ? '' : `, about ${left} s left`}`;
}
