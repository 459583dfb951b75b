/** What a command of `dps` gets to work with, and what it answers. One file in commands/ each. */
import type { Config } from '../config.js';
import { OperatorError } from '../kernel/operator-error.js';

/** 0 fine, 1 differences found, 2 wrong usage or failure, 3 refused by the policy. */
export type ExitCode = 0 | 1 | 2 | 3;

/** The options as commander reads them, by their names in camel case: `dataDir`. */
export type Values = Readonly<Record<string, unknown>>;

export interface Invocation {
  /** The command's arguments: as many as it declares. */
  positionals: readonly string[];
  values: Values;
  environment: Readonly<Record<string, string | undefined>>;
  /** The service's settings, for commands that work on its database. */
  config(): Config;
  terminal: Terminal;
}

export interface Terminal {
  /**
   * Results: stdout. Throws once they can't be written any more.
   * @param options isExact: a document, written byte for byte unless stdout is a terminal
   */
  print(text: string, options?: { isExact?: boolean }): void;
  /** Remarks for people: stderr. */
  note(text: string): void;
  /** Remarks that the next one overwrites; absent where stderr is no terminal. An empty one ends it. */
  rewrite?(line: string): void;
  /** Asks the person at the terminal; absent where there is none. @returns the answer without its line end */
  ask?(question: string): Promise<string>;
  /** Whether results may be coloured: stdout is a terminal. */
  colours?: boolean;
  /** All of stdin. */
  read(): Promise<string>;
}

export type Run = (invocation: Invocation) => ExitCode | Promise<ExitCode>;

/** The command line is wrong: shown with a pointer to the command's help. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The policy refuses what was asked for. */
export class PolicyRefusedError extends OperatorError {
  readonly code: ExitCode = 3;
}

/** The text of an option; undefined when absent. */
export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether an option that takes no value was given. */
export function isSet(values: Values, name: string): boolean {
  return values[name] === true;
}

/** The texts of an option that may be repeated. */
export function texts(values: Values, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? (value as string[]) : [];
}
