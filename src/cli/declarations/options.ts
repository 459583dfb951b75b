import { type Command, Option } from 'commander';
import type { Run } from '../command.js';

/** Sets the action of a command, loaded on use so that help and completion start fast. */
export type Does = (command: Command, load: () => Promise<Run>) => void;

/** A command on the service's database. */
export function onDatabase(command: Command): Command {
  return command
    .addOption(
      new Option('--database-url <url>', "instead of DATABASE_URL, which other users of this machine don't see"),
    )
    .addOption(
      new Option('--data-dir <dir>', "the embedded server's, instead of DATA_DIR and DATABASE_URL").conflicts(
        'databaseUrl',
      ),
    )
    .option('--json', 'print for machines');
}

/**
 * A command for a running service.
 * @param role the required role
 */
export function onService(command: Command, role = 'an admin'): Command {
  return command
    .option('--url <url>', 'where the service runs; DPS_URL, else http://127.0.0.1:8055')
    .option('--token <token>', `a token of ${role}; better in DPS_TOKEN, where other users don't see it`)
    .option('--json', 'print for machines');
}

export const FORCE = 'accept the snapshot of another release, another database or another vendor';

/** A new one each time, because an option belongs to one command. */
export const reason = (): Option => new Option('--reason <text>', 'why, kept with the events');

/** Options of commands that change the schema: dry run, online, confirmation. */
export const changes = (command: Command): Command =>
  command
    .option('--dry-run', 'run it, roll it back, and print the plan; exit code 2 when it would be refused')
    .option('--online', 'prepare what takes long first, while the tables are used, and wait for it with a progress bar')
    .option('--purge', 'what it deletes is dropped at once, and not kept in the trash')
    .option('-y, --yes', 'answer every question but that for losses')
    .addOption(
      repeatable('--allow-drop <name>', 'this collection, or this field (posts.title), may lose its data; repeatable'),
    );

/** Acknowledged findings. */
export const acknowledge = (): Option =>
  repeatable('--acknowledge <code:place>', 'a finding that you know of (LOSES_DATA:posts.title); repeatable');

/** @param what the text in the help */
export const output = (what = 'write there instead of stdout'): Option => new Option('-o, --output <file>', what);

/** @param choices all allowed values */
export function oneOf(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices);
}

/** An option that may be repeated. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);
}

const BASE =
  'what the files are changes of: a moment of the log, a folder of files, or a snapshot; what dps.lock says by default';

const TAKE = 'what both changed otherwise is as the service has it (ours), or as the files say (theirs)';

/**
 * For a folder of files.
 * @param of set if the command also accepts other input
 */
export const base = (of = ''): Option => new Option('--base <base>', `${of}${BASE}`);

/** For a folder of files. */
export const take = (of = ''): Option => oneOf('--take <side>', `${of}${TAKE}`, ['ours', 'theirs']);
