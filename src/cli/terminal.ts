/** Implements the terminal of commands. If output cannot be written, the command fails. */
import { createInterface } from 'node:readline/promises';
import { text as readStream } from 'node:stream/consumers';
import { OperatorError } from '../kernel/operator-error.js';
import type { ExitCode, Terminal } from './command.js';
import { manyLines } from './output.js';

type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>;

export interface OpenTerminal {
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
