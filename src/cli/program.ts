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
    .description("The operators' command of the Data Platform Service.")
    .version(readRelease(), '-V, --version', 'print the release')
    .helpOption('-h, --help', 'print this')
    .helpCommand('help [command]', 'print how a command is used')
    .addHelpText(
      'after',
      '\nEvery command but completion takes --json, to print for machines. Exit codes: 0 fine, 1 differences found, 2 wrong usage or failure, 3 refused by the policy.',
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
