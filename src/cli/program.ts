/** Declares the command line. Modules of commands are loaded only when they run. */
import { Command } from 'commander';
import { readRelease } from '../release.js';
import { declareAccounts, declareOperations } from './declarations/operations.js';
import type { Does } from './declarations/options.js';
import { declareSchema } from './declarations/schema.js';

/** Output of commander's own texts: help to `print`, errors to `note`. */
export interface Voice {
  print(text: string): void;
  note(text: string): void;
}

/** @param does called for every command with an action */
export function createProgram({ print, note }: Voice, does: Does): Command {
  const program = new Command('dps')
    .description('The command-line tool of the Data Platform Service.')
    .version(readRelease(), '-V, --version', 'print the release')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText(
      'after',
      '\nEvery command except completion accepts --json to print JSON. Exit codes: 0 success, 1 differences found, 2 wrong usage or failure, 3 rejected by the policy.',
    )
    // Settings first: a command inherits those that its parent has when it is created.
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(trimmed(text)), writeErr: (text) => note(trimmed(text)) })
    .showHelpAfterError('See "dps help" and "dps COMMAND --help".');
  declareOperations(program, does);
  declareAccounts(program, does);
  declareSchema(program, does);
  return program;
}

const trimmed = (text: string): string => text.replace(/\n+$/, '');
