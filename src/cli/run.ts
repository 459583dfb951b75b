import type { Command, CommanderError } from 'commander';
import { type ExitCode, type Invocation, PolicyRefusedError, type Run, UsageError } from './command.js';
import { explain } from './failure.js';
import { withPlace } from './connections/database.js';
import { createProgram } from './program.js';

export type Surroundings = Pick<Invocation, 'environment' | 'terminal'>;

/** @param args the arguments after the program name */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const { terminal } = surroundings;
  let code: ExitCode = 0;
  let values: Invocation['values'] = {};
  const does = (command: Command, load: () => Promise<Run>): void => {
    command.action(async () => {
      values = command.opts();
      code = await call(command, await load(), surroundings);
    });
  };
  try {
    await createProgram(terminal, does).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (isCommanders(error)) return error.exitCode === 0 ? 0 : 2;
    terminal.note(explain(error, surroundings.environment, values));
    return error instanceof PolicyRefusedError ? error.code : 2;
  }
}

/** Commander has already printed its message. */
const isCommanders = (error: unknown): error is CommanderError =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');

async function call(command: Command, run: Run, surroundings: Surroundings): Promise<ExitCode> {
  const values = command.opts();
  // `dps pull "$FOLDER"` with an empty variable must not fall back to the current directory.
  if (command.args.includes('')) throw new UsageError('An argument is empty.');
  const { readConfig } = await import('../config.js');
  const config = () => readConfig(withPlace(surroundings.environment, values));
  return run({ ...surroundings, positionals: command.args, values, config });
}
