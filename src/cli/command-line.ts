/** Parses the command line and runs its command. Modules of commands are loaded only when they run. */
import { OperatorError } from '../kernel/problem.js';
import { SQLSTATE, readOnly, hiddenRowsProblem } from '../postgres/errors.js';
import { type Values, UsageError, type ExitCode, type Invocation, PolicyRefusedError, type Run } from './command.js';
import { Command, type CommanderError } from 'commander';
import { readRelease } from '../release.js';
import { declareAccounts, declareOperations } from './declarations/operations.js';
import type { CommandEffect } from './declarations/options.js';
import { declareSchema } from './declarations/schema.js';
import { withLocation } from './connections/database.js';

/** Receives the output that commander itself writes: help with `print`, errors with `note`. */
export interface CliOutput {
  print(text: string): void;
  note(text: string): void;
}

/** @param effect called for every command with an action */
export function createProgram({ print, note }: CliOutput, effect: CommandEffect): Command {
  const program = new Command('dps')
    .description('The command-line tool of the Data Platform Service.')
    .version(readRelease(), '-V, --version', 'print the release')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText(
      'after',
      '\nEvery command except completion accepts --json to print JSON. Exit codes: 0 success, 1 differences found, 2 wrong usage or failure, 3 rejected by the policy.',
    )
    // Settings come first, because a command inherits those that its parent has when it is created.
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(trimmed(text)), writeErr: (text) => note(trimmed(text)) })
    .showHelpAfterError('See "dps help" and "dps COMMAND --help".');
  declareOperations(program, effect);
  declareAccounts(program, effect);
  declareSchema(program, effect);
  return program;
}

const trimmed = (text: string): string => text.replace(/\n+$/, '');

export type CliEnvironment = Pick<Invocation, 'environment' | 'terminal'>;

/** @param args the arguments after the program name */
export async function runCli(args: readonly string[], surroundings: CliEnvironment): Promise<ExitCode> {
  const { terminal } = surroundings;
  let code: ExitCode = 0;
  let values: Invocation['values'] = {};
  const setAction = (command: Command, load: () => Promise<Run>): void => {
    command.action(async () => {
      values = command.opts();
      code = await call(command, await load(), surroundings);
    });
  };
  try {
    await createProgram(terminal, setAction).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (isCommanders(error)) return error.exitCode === 0 ? 0 : 2;
    terminal.note(explain(error, surroundings.environment, values));
    return error instanceof PolicyRefusedError ? error.code : 2;
  }
}

/** True for an error whose message commander has already printed. */
const isCommanders = (error: unknown): error is CommanderError =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');

async function call(command: Command, run: Run, surroundings: CliEnvironment): Promise<ExitCode> {
  const values = command.opts();
  // `dps pull "$FOLDER"` with an empty variable must not fall back to the current directory.
  if (command.args.includes('')) throw new UsageError('An argument is empty.');
  const { readConfig } = await import('../config.js');
  const config = () => readConfig(withLocation(surroundings.environment, values));
  return run({ ...surroundings, positionals: command.args, values, config });
}

/** Explains an error to an operator, with a sentence for a mistake. Only bugs have a stack. */

/** @param environment contains secrets, which are never shown, like those in options */
export function explain(
  error: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  values: Values,
): string {
  return hideSecrets(describe(error), [environment['DPS_TOKEN'], values['token'], ...passwords(environment, values)]);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return `dps failed: ${String(error)}`;
  if (error instanceof UsageError) return `${error.message} See "dps COMMAND --help".`;
  if (error instanceof OperatorError || error.name === 'ProblemError') return error.message;
  if (error.name === 'UnreadableEventError')
    return `The log cannot be read: ${error.message}. Run "dps verify" for details.`;
  if (isSystemError(error)) return `dps failed: ${error.message}.`;
  const state = sqlStateOf(error);
  if (state !== undefined) return refusedByServer(state, error);
  if (/^(Connection terminated|timeout exceeded when trying to connect|Client has encountered)/.test(error.message)) {
    return `The connection to the database was lost: ${error.message}.`;
  }
  return `dps failed, and this is a bug: ${error.stack ?? error.message}`;
}

function refusedByServer(state: string, error: Error): string {
  if (state === SQLSTATE.read_only_sql_transaction) return readOnly(null).message;
  return (
    hiddenRowsProblem(error, state)?.message ??
    `PostgreSQL rejected the statement: ${error.message} (SQLSTATE ${state}).`
  );
}

/** True for an error of the file system or the network: `ENOENT: no such file or directory, open '…'`. */
const isSystemError = (error: Error): boolean =>
  'code' in error && typeof error.code === 'string' && 'syscall' in error && error.message !== '';

/** Returns the SQLSTATE from anywhere in the chain of causes. */
function sqlStateOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 4) return undefined;
  if ('severity' in error && 'code' in error && typeof error.code === 'string') return error.code;
  return sqlStateOf(error.cause, depth + 1);
}

const DATABASE_URLS = ['DATABASE_URL', 'DIRECT_DATABASE_URL', 'LISTEN_DATABASE_URL', 'PROVE_DATABASE_URL'];

function passwords(environment: Readonly<Record<string, string | undefined>>, values: Values): string[] {
  const urls = [
    ...DATABASE_URLS.map((name) => environment[name]),
    values['databaseUrl'],
    values['into'],
    values['url'],
  ];
  return urls.flatMap((url) => {
    // An address with several hosts is not a valid URL, but can still contain user and password.
    const [, password] = typeof url === 'string' ? (/^\w+:\/\/[^/?#:]*:([^/?#]*)@/.exec(url) ?? []) : [];
    if (password === undefined) return [];
    return [password, decoded(password)];
  });
}

function hideSecrets(text: string, secrets: readonly unknown[]): string {
  let shown = text.replaceAll(/(\w:\/\/[^\s:@/]*):[^\s@/]*@/g, '$1:…@');
  for (const secret of secrets)
    if (typeof secret === 'string' && secret.length > 3) shown = shown.replaceAll(secret, '…');
  return shown;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
