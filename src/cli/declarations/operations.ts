import type { Command } from 'commander';
import { type Does, acknowledge, onDatabase, reason, repeatable, oneOf } from './options.js';
import { ROLES, USER_STATUSES } from '../../auth/caller.js';

const PLACE =
  "On the service's database (DATABASE_URL, or the embedded server of DATA_DIR), while the service runs or not.";

/** Loads a command only when it runs. */
export function declareOperations(program: Command, does: Does): void {
  program.commandsGroup('Running it:');
  const start = program
    .command('start')
    .summary('start the service')
    .description(
      'Starts the service with the settings of the environment, as "npm start" does, and stays in front of the terminal.',
    )
    .option('--host <host>', 'instead of HOST')
    .option('--port <port>', 'instead of PORT; 0 is any that is free');
  does(onDatabase(start), async () => (await import('../commands/start.js')).start);

  const status = program
    .command('status')
    .summary('how far the log and the projections are')
    .description(
      `The log and its projections. ${PLACE}\n\nExit code 1 when a projection has stopped; what stopped it and what to do next is shown.`,
    );
  does(onDatabase(status), async () => (await import('../commands/status.js')).status);

  const doctor = program
    .command('doctor')
    .summary('check the database, its settings, the log and the projections')
    .description(
      `What is wrong, and how to mend it. ${PLACE} With the service's own settings.\n\nNothing is changed. Exit code 1 when something is wrong; warnings alone leave it 0. Every finding has a code that the documentation explains.`,
    );
  does(onDatabase(doctor), async () => (await import('../commands/doctor.js')).doctor);

  declareChecks(program, does);
  declareRepairs(program, does);
}

function declareChecks(program: Command, does: Does): void {
  const verify = program
    .command('verify')
    .summary('check the hash chain, and that fold, metadata rows and catalog say the same')
    .description(
      `Is the log whole, and is the database what it says? ${PLACE}

Recomputes the hash chain, folds the log, and compares the fold with the metadata rows and with PostgreSQL's catalog.
Exit code 1 when something differs; everything that differs is named.

With --file, the chain of an exported log is recomputed, without service and database: a changed byte, a missing,
doubled or reordered event is named by its position.

With --checkpoint, the log is held against what was signed of it before and kept elsewhere: whatever was rewritten before
the checkpoint is found, also where the whole chain was recomputed. It takes --file (offline), or --against, or the
database.`,
    )
    .option('--file <file>', 'what GET /history/export answered; - for stdin')
    .option('--against <url>', 'also compare the file with the log of the service that runs there')
    .addOption(
      repeatable('--checkpoint <file>', 'what GET /history/checkpoint answered, or a folder of them; repeatable'),
    )
    .addOption(
      repeatable(
        '--key <key>',
        'of --checkpoint: the public key (name+id+key) that must have signed it, or a file of them',
      ),
    )
    .option('--token <token>', 'of an admin or auditor of that service; better in DPS_TOKEN');
  does(onDatabase(verify), async () => (await import('../commands/verify.js')).verify);

  const drift = program
    .command('drift')
    .summary('find what was changed in the database behind the log, and put it right')
    .description(
      `PostgreSQL's catalog against the log, table by table, with what would end each difference, in the database or in the log. ${PLACE}

Unmanaged tables are named and no drift. Exit code 1 when something differs, after a repair: still differs.`,
    )
    .option('--repair', 'change the database to match the log, without statements that may lose something')
    .option(
      '--allow-drop',
      'with --repair: also drop columns, constraints and indexes that the log lacks, and narrow types that may lose values',
    )
    .option('--accept [place...]', 'take what is there into the log: all, or collections and fields (collection.field)')
    .option('--dry-run', 'with --accept: only say what would be taken')
    .addOption(acknowledge())
    .addOption(reason());
  does(onDatabase(drift), async () => (await import('../commands/drift.js')).drift);
}

function declareRepairs(program: Command, does: Does): void {
  const adopt = program
    .command('adopt')
    .summary('bring tables that exist under management, as they are')
    .description(
      `Tables that exist become collections; nothing is done to them. ${PLACE}

What can't be part of a snapshot (triggers, views, functions …) is listed, and stays as it is. Exit code 1 when --all
left tables out.`,
    )
    .argument('[table...]', 'the tables')
    .option('--all', "every table that isn't managed yet")
    .option('--dry-run', 'only say what would be adopted')
    .addOption(acknowledge())
    .addOption(reason());
  does(onDatabase(adopt), async () => (await import('../commands/adopt.js')).adopt);

  const acknowledgeLog = program
    .command('acknowledge-log')
    .summary('go on with a log that is not the one that was seen')
    .description(
      `The log was found to be shorter than, or other than, what was seen of it: after a failover, after a backup was
restored, or because it was changed by hand. Nothing is changed until this is acknowledged: one event names all that was
noticed, and what was kept of the other log is dropped. Look first: "dps verify" says what is missing. ${PLACE}`,
    )
    .addOption(reason());
  does(onDatabase(acknowledgeLog), async () => (await import('../commands/acknowledge-log.js')).acknowledgeLog);

  const rebuild = program
    .command('rebuild')
    .summary('rebuild a projection, or replay the log into an empty database')
    .description(
      `Rebuilds a projection from the log. ${PLACE}

  metadata            the rows of service_collections, service_fields, service_relations
  tables              make what is missing, mend what differs; nothing is dropped ("dps drift" can)
  trash               the list of what the trash holds
  change-requests     the rows of change requests
  indexes             go on with the indexes that are built after their commit, at once
  tables --into URL   replay the whole log, DDL included, into an empty database, and verify it

Exit code 1 when differences are left.`,
    )
    .argument('<projection>', 'what to rebuild')
    .option('--into <url>', 'postgres://… of an empty database; the log is copied with its hashes');
  rebuild.registeredArguments[0]?.choices(['tables', 'metadata', 'trash', 'change-requests', 'indexes']);
  does(onDatabase(rebuild), async () => (await import('../commands/rebuild.js')).rebuild);

  const restore = program
    .command('restore')
    .summary('make an empty database what an exported log or a backup says')
    .description(
      `An empty database becomes what an exported log says: the events are taken over as they are (positions, ids, times,
hashes), the chain is checked while the file is read; then the tables are made as they were at the end, and everything
is verified. Items, users and tokens are not in the log: the next start of the service creates its admin again. A restore
that is broken off leaves a database that no service starts on: drop it.`,
    )
    .option('--file <file>', 'what GET /history/export answered (one event a line)')
    .option('--backup <file>', 'what "dps backup" wrote: items, users and tokens too')
    .addOption(
      repeatable(
        '--key <key>',
        'with --backup: the public key (name+id+key) that must have signed it, or a file of them; repeatable',
      ),
    )
    .option(
      '--into <url>',
      'postgres://… of an empty database; DATABASE_URL, or the embedded server of DATA_DIR, by default',
    );
  does(onDatabase(restore), async () => (await import('../commands/restore.js')).restore);

  const backup = program
    .command('backup')
    .summary('write log, schema, items, users and tokens to a file')
    .description(
      `Everything that the service manages, as it is at one moment, in one file: the log, the rows of all collections, the
values of sequences, users and tokens. ${PLACE}

It works with any server and needs no pg_dump. Schema changes wait while it runs; reads and writes of items go on. What is
in the database and not managed is named and not in it. The file is written whole or not at all, and holds hashes of
passwords: keep it as you keep the database.`,
    )
    .argument('<file>', 'where to; replaced when it is there')
    .option('--verify', 'restore it into a scratch database, compare catalog and row counts, and drop that database');
  does(onDatabase(backup), async () => (await import('../commands/backup.js')).backup);

  const completion = program
    .command('completion')
    .summary('print the completion of a shell')
    .description(
      `Prints a script that completes commands and options.

  bash   source <(dps completion bash)                                    in ~/.bashrc
  zsh    source <(dps completion zsh)                                     in ~/.zshrc, after compinit
  fish   dps completion fish > ~/.config/fish/completions/dps.fish        once`,
    )
    .argument('<shell>', 'whose');
  completion.registeredArguments[0]?.choices(['bash', 'zsh', 'fish']);
  does(completion, async () => {
    const { completionOf } = await import('../completion.js');
    return ({ positionals: [shell = ''], terminal }) => {
      terminal.print(completionOf(program, shell));
      return 0;
    };
  });
}

const USER = 'an e-mail address or an id';

/** Loads a command only when it runs. */
export function declareAccounts(program: Command, does: Does): void {
  program.commandsGroup('Accounts:');
  declareUsers(program, does);
  declareTokens(program, does);
  declareKeys(program, does);
}

function declareUsers(program: Command, does: Does): void {
  const users = program
    .command('users')
    .summary('list, add, change and remove users')
    .description(
      'The users of the service, on its database: the service may run or not; one that runs notices at once.',
    );
  const load = () => import('../commands/users.js');

  const list = users.command('list').description('All users.');
  does(onDatabase(list), async () => (await load()).list);

  const add = users
    .command('add')
    .description('Adds a user. A password is generated and printed once, unless told otherwise.')
    .argument('<email>', 'where the user is reached')
    .addOption(
      oneOf(
        '--role <role>',
        'admin (everything), auditor (reads the schema, history and verification), author (proposes changes), reader (reads collections)',
        ROLES,
      ).makeOptionMandatory(),
    )
    .option('--name <name>', 'as people say it')
    .option('--password-stdin', 'the password is read from stdin')
    .option('--no-password', 'no login; tokens work');
  does(onDatabase(add.addOption(reason())), async () => (await load()).add);

  const set = users
    .command('set')
    .description('Changes a user.')
    .argument('<user>', USER)
    .option('--email <email>', 'another address')
    .option('--name <name>', 'as people say it')
    .addOption(oneOf('--role <role>', 'another role', ROLES))
    .addOption(oneOf('--status <status>', 'another status', USER_STATUSES))
    .option('--password-stdin', 'the password is read from stdin')
    .option('--new-password', 'a password is generated and printed once')
    .option('--no-password', 'no login; tokens work');
  does(onDatabase(set.addOption(reason())), async () => (await load()).set);

  const remove = users.command('remove').description('Removes a user.').argument('<user>', USER);
  does(onDatabase(remove.addOption(reason())), async () => (await load()).remove);
}

function declareTokens(program: Command, does: Does): void {
  const tokens = program
    .command('tokens')
    .summary("list, add and revoke users' static tokens")
    .description("Static bearer tokens of users, on the service's database.");
  const load = () => import('../commands/tokens.js');

  const list = tokens.command('list').description("A user's tokens.").argument('<user>', USER);
  does(onDatabase(list), async () => (await load()).list);

  const add = tokens
    .command('add')
    .description('Makes a token, and prints it this once.')
    .argument('<user>', USER)
    .option('--name <name>', 'what the token is for')
    .option(
      '--expires <when>',
      'a time (2030-01-31, 2030-01-31T12:00:00Z) or a number of days (90d); never by default',
    );
  does(onDatabase(add.addOption(reason())), async () => (await load()).add);

  const revoke = tokens
    .command('revoke')
    .description('Ends a token.')
    .argument('<user>', USER)
    .argument('<token>', "a token's id or its name");
  does(onDatabase(revoke.addOption(reason())), async () => (await load()).revoke);
}

function declareKeys(program: Command, does: Does): void {
  const keys = program
    .command('keys')
    .summary('the keys that sign checkpoints of the log')
    .description(
      `The keys that sign checkpoints, on the service's database. With CHECKPOINT_KEY_FILE the key is in that file, else in
the database, where it proves little. Public keys stay for good: what an older key signed can still be verified.`,
    );
  const load = () => import('../commands/keys.js');

  const list = keys.command('list').description('All keys there ever were, with the position from which each signs.');
  does(onDatabase(list), async () => (await load()).list);

  const showPublic = keys.command('public').description('The public keys alone, one a line: for "dps verify --key".');
  does(onDatabase(showPublic), async () => (await load()).showPublic);

  const rotate = keys
    .command('rotate')
    .description('A new key in the database signs from now on; the private half of the one before is deleted.');
  does(onDatabase(rotate), async () => (await load()).rotate);

  const make = keys
    .command('new')
    .description(
      'Writes a new private key to a file, for CHECKPOINT_KEY_FILE, and prints the public one. No database is needed.',
    )
    .argument('<file>', 'where to; never overwritten')
    .option('--json', 'print for machines');
  does(make, async () => (await load()).make);
}
