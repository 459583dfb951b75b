import { type Command, Option } from 'commander';
import type { Run } from '../command.js';

/** Sets the action of a command. The module is loaded when the command runs, so that help and completion start fast. */
export type CommandEffect = (command: Command, load: () => Promise<Run>) => void;

/** Adds the options of a command that connects to the service's database. */
export function onDatabase(command: Command): Command {
  return command
    .addOption(
      new Option('--database-url <url>', 'instead of DATABASE_URL, which other users of this machine cannot see'),
    )
    .addOption(
      new Option('--data-dir <dir>', 'folder of the embedded server, instead of DATA_DIR and DATABASE_URL').conflicts(
        'databaseUrl',
      ),
    )
    .option('--json', 'print JSON');
}

/**
 * Adds the options of a command that sends requests to a running service.
 * @param role the required role
 */
export function onService(command: Command, role = 'an admin'): Command {
  return command
    .option('--url <url>', 'address of the service; default: DPS_URL, or http://127.0.0.1:8055')
    .option('--token <token>', `token of ${role}; prefer DPS_TOKEN, which other users cannot see`)
    .option('--json', 'print JSON');
}

export const FORCE = 'accept a snapshot from another release, service or database vendor';

export const MODES = ['mirror', 'merge'];
export const MODE = 'mirror (also delete what is missing from the snapshot) or merge (never delete); default: mirror';

/** Creates the option for each command, because an option belongs to one command. */
export const reason = (): Option => new Option('--reason <text>', 'reason, recorded in the events');

/** Adds the options of commands that change the schema: dry run, online, confirmation. */
export const changes = (command: Command): Command =>
  command
    .option('--dry-run', 'execute it, roll it back, and print the plan; exit code 2 if it would be rejected')
    .option('--online', 'execute slow steps first, while the tables stay in use, and wait with a progress bar')
    .option('--purge', 'drop deleted objects immediately instead of moving them to the trash')
    .option('-y, --yes', 'answer yes to all questions, except those about data loss')
    .addOption(
      repeatableOption('--allow-drop <name>', 'allow data loss of this collection or field (posts.title); repeatable'),
    );

/** Creates the option for the rows of changed fields. */
export const backfill = (): Option =>
  repeatableOption(
    '--backfill <field=json>',
    'fill rows in which a changed field is null: \'orders.status={"value": "new"}\'; repeatable',
  );

/** Creates the option for acknowledged findings. */
export const acknowledge = (): Option =>
  repeatableOption('--acknowledge <code:place>', 'acknowledge a finding (LOSES_DATA:posts.title); repeatable');

/** @param what the description in the help */
export const output = (what = 'write to this file instead of stdout'): Option =>
  new Option('-o, --output <file>', what);

/** @param choices all allowed values */
export function oneOf(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices);
}

/** An option that may be repeated. */
export function repeatableOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);
}

const BASE = 'the base of the files: a point in time of the log, a folder of files, or a snapshot; default: dps.lock';

const TAKE = 'resolve conflicts with the value of the service (ours) or of the files (theirs)';

/**
 * Creates an option for a folder of files.
 * @param of a prefix of the description, if the command also accepts other input
 */
export const base = (of = ''): Option => new Option('--base <base>', `${of}${BASE}`);

/** Creates an option for a folder of files. */
export const take = (of = ''): Option => oneOf('--take <side>', `${of}${TAKE}`, ['ours', 'theirs']);
