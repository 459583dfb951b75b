/** Defines the input and output of a `dps` command. Each command is a file in commands/. */
import type { Config } from '../config.js';
import { OperatorError } from '../kernel/problem.js';

/** 0: success, 1: differences found, 2: invalid usage or failure, 3: blocked by the policy. */
export type ExitCode = 0 | 1 | 2 | 3;

/** The options from commander, by their camelCase names: `dataDir`. */
export type Values = Readonly<Record<string, unknown>>;

export interface Invocation {
  positionals: readonly string[];
  values: Values;
  environment: Readonly<Record<string, string | undefined>>;
  config(): Config;
  terminal: Terminal;
}

export interface Terminal {
  /**
   * Writes results to stdout. Throws once they cannot be written.
   * @param options `isExact` is for a document, which is written byte for byte unless stdout is a terminal
   */
  print(text: string, options?: { isExact?: boolean }): void;
  /** Writes messages to stderr. */
  note(text: string): void;
  /** Writes a status line, which the next one overwrites. An empty line removes it. Absent without a terminal. */
  rewrite?(line: string): void;
  /**
   * Prompts at the terminal. Absent without a terminal.
   * @returns the answer without its line end
   */
  ask?(question: string): Promise<string>;
  /** True if stdout is a terminal, so that output may have colours. */
  colours?: boolean;
  read(): Promise<string>;
}

export type Run = (invocation: Invocation) => ExitCode | Promise<ExitCode>;

/** Thrown if the command line is invalid. The message refers to the help of the command. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Thrown if the policy blocks the command. */
export class PolicyRefusedError extends OperatorError {
  readonly code: ExitCode = 3;
}

export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function isSet(values: Values, name: string): boolean {
  return values[name] === true;
}

export function texts(values: Values, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? (value as string[]) : [];
}
