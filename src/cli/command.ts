/** What a command of `dps` is. One file in commands/ each. */
import type { parseArgs } from 'node:util';
import type { Config } from '../config.js';

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

/** 0 fine, 1 differences found, 2 wrong usage or failure. */
export type ExitCode = 0 | 1 | 2;

export type Values = Readonly<Record<string, string | boolean | undefined>>;

export interface Invocation {
  /** What follows the command's name and is no option. */
  positionals: readonly string[];
  values: Values;
  environment: Readonly<Record<string, string | undefined>>;
  /** The service's settings, for commands that work on its database. */
  config(): Config;
  terminal: Terminal;
}

export interface Terminal {
  /** Results: stdout. */
  print(text: string): void;
  /** Remarks for people: stderr. */
  note(text: string): void;
  /** Remarks that the next one overwrites; absent where stderr is no terminal. An empty one ends it. */
  rewrite?(line: string): void;
  /** Whether results may be coloured: stdout is a terminal. */
  colours?: boolean;
  /** All of stdin. */
  read(): Promise<string>;
}

export interface Command {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** All of `dps help NAME`. */
  help: string;
  /** Beside --json and --help, which every command has. */
  options: Options;
  run(invocation: Invocation): Promise<ExitCode>;
}

/** The command line is wrong: shown with a pointer to the command's help. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The text of an option; undefined when absent. */
export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Exactly these positionals. @param names shown when one is missing */
export function takePositionals(invocation: Invocation, ...names: string[]): string[] {
  const { positionals } = invocation;
  const missing = names[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  if (positionals.length > names.length) throw new UsageError(`"${positionals[names.length]}" is too much.`);
  return [...positionals];
}

/** One of `choices`, or undefined when the option is absent. */
export function choice<T extends string>(values: Values, name: string, choices: readonly T[]): T | undefined {
  const value = text(values, name);
  if (value === undefined) return undefined;
  const found = choices.find((each) => each === value);
  if (found === undefined) throw new UsageError(`--${name} must be one of ${choices.join(', ')}.`);
  return found;
}
