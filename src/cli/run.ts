/** From the command line to a command and its exit code. */
import { parseArgs } from 'node:util';
import { readConfig } from '../config.js';
import { OperatorError } from '../operator-error.js';
import { type Command, type ExitCode, type Invocation, UsageError, type Values } from './command.js';
import { COMMANDS } from './commands/index.js';

export type Surroundings = Pick<Invocation, 'environment' | 'terminal'>;

export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const [name, ...rest] = args;
  const { terminal } = surroundings;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    return showHelp(rest[0], surroundings, name === undefined ? 2 : 0);
  }
  const command = find(name);
  if (!command) {
    terminal.note(`There is no command "${name}".\n\n${overview()}`);
    return 2;
  }
  return runCommand(command, rest, surroundings);
}

async function runCommand(command: Command, args: string[], surroundings: Surroundings): Promise<ExitCode> {
  const { terminal } = surroundings;
  try {
    const { positionals, values } = parse(command, args);
    if (values['help'] === true) {
      terminal.print(command.help);
      return 0;
    }
    const config = () => readConfig(withDataDir(surroundings.environment, values));
    return await command.run({ ...surroundings, positionals, values, config });
  } catch (error) {
    if (error instanceof UsageError) terminal.note(`${error.message} See "dps help ${command.name}".`);
    else if (error instanceof OperatorError) terminal.note(error.message);
    else terminal.note(`dps failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return 2;
  }
}

function parse(command: Command, args: string[]): { positionals: string[]; values: Values } {
  const options = { ...command.options, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const { positionals, values } = parseArgs({ args, options, allowPositionals: true, strict: true });
    return { positionals, values };
  } catch (error) {
    throw new UsageError(
      `${(error as Error).message
        .split('\n')[0]
        ?.replace(/\.? To specify.*$/, '')
        .replace(/\.$/, '')}.`,
    );
  }
}

function withDataDir(environment: Surroundings['environment'], values: Values): Surroundings['environment'] {
  const dataDir = values['data-dir'];
  return typeof dataDir === 'string' ? { ...environment, DATA_DIR: dataDir } : environment;
}

function find(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name);
}

function showHelp(name: string | undefined, { terminal }: Surroundings, code: ExitCode): ExitCode {
  const command = name === undefined ? undefined : find(name);
  if (name !== undefined && !command) {
    terminal.note(`There is no command "${name}".\n\n${overview()}`);
    return 2;
  }
  const help = command?.help ?? overview();
  if (code === 0) terminal.print(help);
  else terminal.note(help);
  return code;
}

function overview(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length));
  const lines = COMMANDS.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return `dps: the operators' command of the Data Platform Service

Usage: dps COMMAND [options]     dps help COMMAND

${lines.join('\n')}

Every command takes --json, to print for machines. Exit codes: 0 fine, 1 differences found, 2 wrong usage or failure.`;
}
