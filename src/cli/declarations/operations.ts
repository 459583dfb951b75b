import type { Command } from 'commander';
import { type CommandEffect, acknowledge, onDatabase, onService, reason, repeatableOption, oneOf } from './options.js';
import { FORMATS } from '../../features/webhooks/message.js';
import { ROLES, USER_STATUSES } from '../../features/accounts/caller.js';
import { TOKEN_ACTIONS } from '../../schema/model/token-scope.js';

const PLACE =
  'It uses the database of the service (DATABASE_URL, or the embedded server of DATA_DIR). The service can be running or stopped.';

/** Declares commands. The module of a command is loaded only when the command runs. */
export function declareOperations(program: Command, effect: CommandEffect): void {
  program.commandsGroup('Operations:');
  const start = program
    .command('start')
    .summary('start the service')
    .description('Starts the service in the foreground with the settings of the environment, like "npm start".')
    .option('--host <host>', 'instead of HOST')
    .option('--port <port>', 'instead of PORT; 0 chooses a free port');
  effect(onDatabase(start), async () => (await import('../commands/status.js')).start);

  const status = program
    .command('status')
    .summary('show the progress of the log and the projections')
    .description(
      `Shows the log and its projections. ${PLACE}\n\nExit code 1 if a projection has stopped. The output then shows the reason and the next step.`,
    );
  effect(onDatabase(status), async () => (await import('../commands/status.js')).status);

  const doctor = program
    .command('doctor')
    .summary('check the database, its settings, the log and the projections')
    .description(
      `Finds problems and shows how to fix them. ${PLACE} It uses the settings of the service.\n\nNothing is changed. Exit code 1 if a check failed; 0 if there are only warnings. The documentation explains the code of every finding.`,
    );
  effect(onDatabase(doctor), async () => (await import('../commands/status.js')).doctor);

  declareWebhooks(program, effect);
  declareEnvironments(program, effect);
  declareAgents(program, effect);
  declareChecks(program, effect);
  declareRepairs(program, effect);
}

function declareChecks(program: Command, effect: CommandEffect): void {
  const verify = program
    .command('verify')
    .summary('verify the hash chain, and compare fold, metadata rows and catalog')
    .description(
      `Verifies the log, and compares the database with it. ${PLACE}

It recomputes the hash chain, folds the log, and compares the result with the metadata rows and the PostgreSQL catalog. Exit code 1 if there are differences. All of them are listed.

With --file, it recomputes the chain of an exported log without the service or the database. Changed, missing, duplicate or reordered events are reported by position.

With --checkpoint, it compares the log with signed checkpoints that were stored elsewhere. This detects a log that was rewritten before the checkpoint, even if the whole chain was recomputed. Use it with --file (offline), with --against, or with the database.`,
    )
    .option('--file <file>', 'output of GET /history/export; - for stdin')
    .option('--against <url>', 'also compare the file with the log of the service that runs there')
    .addOption(
      repeatableOption(
        '--checkpoint <file>',
        'output of GET /history/checkpoint, or a folder of such files; repeatable',
      ),
    )
    .addOption(
      repeatableOption(
        '--key <key>',
        'for --checkpoint: the public key (name+id+key) of the required signature, or a file of public keys',
      ),
    )
    .option('--token <token>', 'token of an admin or auditor of that service; prefer DPS_TOKEN');
  effect(onDatabase(verify), async () => (await import('../commands/verify.js')).verify);

  const drift = program
    .command('drift')
    .summary('find and resolve differences between the database and the log')
    .description(
      `Compares the PostgreSQL catalog with the log, table by table, and shows how to resolve each difference, in the database or in the log. ${PLACE}

Unmanaged tables are listed, but do not count as drift. Exit code 1 if differences remain, even after a repair.`,
    )
    .option('--repair', 'change the database to match the log, without statements that may lose data')
    .option(
      '--allow-drop',
      'with --repair: also drop columns, constraints and indexes that are not in the log, and narrow types that may lose values',
    )
    .option('--purge', 'with --allow-drop: also drop columns that other tables inherit, from all of them')
    .option(
      '--accept [place...]',
      'append events so that the log matches the database: for all drift, or for collections, fields (collection.field) and objects (view:name, function:name(type))',
    )
    .option('--dry-run', 'with --accept: only show what would be accepted')
    .addOption(acknowledge())
    .addOption(reason());
  effect(onDatabase(drift), async () => (await import('../../features/drift/cli.js')).drift);
}

function declareRepairs(program: Command, effect: CommandEffect): void {
  const adopt = program
    .command('adopt')
    .summary('adopt existing tables without changing them')
    .description(
      `Creates collections from existing tables without changing the tables. ${PLACE}

Unsupported objects (triggers, views, functions …) are listed and stay unchanged. Exit code 1 if --all skipped tables.`,
    )
    .argument('[table...]', 'the tables; with OBJECTS=on also objects: view:name, function:name(type)')
    .option('--all', 'all unmanaged tables; with OBJECTS=on also all unmanaged objects')
    .option('--dry-run', 'only show what would be adopted')
    .addOption(acknowledge())
    .addOption(reason());
  effect(onDatabase(adopt), async () => (await import('../../features/adopt/cli.js')).adopt);

  const acknowledgeLog = program
    .command('acknowledge-log')
    .summary('acknowledge a fork of the log')
    .description(
      `A log has a fork if it differs from an earlier read or has lost events. Possible causes are a failover, a restored backup, and changes by hand. The service rejects changes until you acknowledge the fork. One event records every detected fork, and the service deletes cached data of the other log. Run "dps verify" first: it shows what is missing. ${PLACE}`,
    )
    .addOption(reason());
  effect(onDatabase(acknowledgeLog), async () => (await import('../commands/verify.js')).acknowledgeLog);

  const rebuild = program
    .command('rebuild')
    .summary('rebuild a projection, or replay the log into an empty database')
    .description(
      `Rebuilds a projection from the log. ${PLACE}

  metadata            the rows of service_collections, service_fields, service_relations
  tables              create what is missing, repair what differs; nothing is dropped ("dps drift" can)
  trash               the list of the trash
  change-requests     the rows of change requests
  indexes             immediately resume indexes that are built after the commit
  tables --into URL   replay the whole log, DDL included, into an empty database, and verify it

Exit code 1 if differences remain.`,
    )
    .argument('<projection>', 'the projection')
    .option('--into <url>', 'postgres://… of an empty database; the log is copied with its hashes');
  rebuild.registeredArguments[0]?.choices(['tables', 'metadata', 'trash', 'change-requests', 'indexes']);
  effect(onDatabase(rebuild), async () => (await import('../../features/projections/cli.js')).rebuild);

  const restore = program
    .command('restore')
    .summary('restore an exported log or a backup into an empty database')
    .description(
      `Restores an exported log into an empty database. The events keep their positions, ids, times and hashes, and the hash chain is verified while the file is read. Then the tables at the last position are created, and everything is verified. Items, users and tokens are not in the log: the service creates its admin at the next start. If a restore is interrupted, no service starts on that database: drop it.`,
    )
    .option('--file <file>', 'output of GET /history/export (one event per line)')
    .option('--backup <file>', 'output of "dps backup", with items, users and tokens')
    .addOption(
      repeatableOption(
        '--key <key>',
        'with --backup: the public key (name+id+key) of the required signature, or a file of public keys; repeatable',
      ),
    )
    .option(
      '--into <url>',
      'postgres://… of an empty database; default: DATABASE_URL, or the embedded server of DATA_DIR',
    );
  effect(onDatabase(restore), async () => (await import('../../features/backup/cli.js')).restore);

  const backup = program
    .command('backup')
    .summary('write log, schema, items, users and tokens to a file')
    .description(
      `Writes everything that the service manages at one point in time to one file: the log, the rows of all collections, the values of sequences, users and tokens. ${PLACE}

It works with any server and needs no pg_dump. Schema changes wait while it runs; reads and writes of items do not. Unmanaged objects in the database are listed but not included. The file is written completely or not at all. It contains password hashes: protect it like the database.`,
    )
    .argument('<file>', 'output file; replaced if it exists')
    .option('--verify', 'restore it into a scratch database, compare catalog and row counts, and drop that database');
  effect(onDatabase(backup), async () => (await import('../../features/backup/cli.js')).backup);

  const completion = program
    .command('completion')
    .summary('print the completion script of a shell')
    .description(
      `Prints a script that completes commands and options.

  bash   source <(dps completion bash)                                    in ~/.bashrc
  zsh    source <(dps completion zsh)                                     in ~/.zshrc, after compinit
  fish   dps completion fish > ~/.config/fish/completions/dps.fish        once`,
    )
    .argument('<shell>', 'whose');
  completion.registeredArguments[0]?.choices(['bash', 'zsh', 'fish']);
  effect(completion, async () => {
    const { completionOf } = await import('../completion.js');
    return ({ positionals: [shell = ''], terminal }) => {
      terminal.print(completionOf(program, shell));
      return 0;
    };
  });
}

const USER = 'an e-mail address or an id';

/** Declares commands. The module of a command is loaded only when the command runs. */
export function declareAccounts(program: Command, effect: CommandEffect): void {
  program.commandsGroup('Accounts:');
  declareLogin(program, effect);
  declareUsers(program, effect);
  declareTokens(program, effect);
  declareTrust(program, effect);
  declareKeys(program, effect);
}

function declareLogin(program: Command, effect: CommandEffect): void {
  const load = () => import('../../features/accounts/cli-login.js');

  const login = program
    .command('login')
    .summary('log in to a service with its OpenID provider')
    .description(
      'Opens a browser, waits until you have signed in, and stores the session. Later commands for the same address use it unless they receive --token or DPS_TOKEN.',
    )
    .option('--url <url>', 'address of the service; default: DPS_URL, or http://127.0.0.1:8055')
    .option('--no-browser', 'only print the address to open')
    .option('--device', 'print a code that you enter in a browser on another device');
  effect(login, async () => (await load()).login);

  const logout = program
    .command('logout')
    .summary('end the session of "dps login"')
    .description('Ends the session of "dps login" and deletes it from this machine.')
    .option('--url <url>', 'address of the service; default: DPS_URL, or http://127.0.0.1:8055');
  effect(logout, async () => (await load()).logout);
}

function declareTrust(program: Command, effect: CommandEffect): void {
  const load = () => import('../../features/accounts/cli-login.js');
  const trust = program
    .command('trust')
    .summary('let pipelines exchange their ID tokens for API tokens')
    .description('Manages the trust rules of a running service. Without a subcommand, shows them.');

  const show = trust
    .command('show', { isDefault: true })
    .description('Shows the trust rules; with --json in the format of "dps trust set".');
  effect(onService(show, 'an admin or auditor'), async () => (await load()).showTrust);

  const set = trust
    .command('set')
    .description('Replaces all trust rules. API tokens of removed and changed rules stop working immediately.')
    .argument('<file>', 'trust rules as JSON or YAML; - for stdin')
    .addOption(reason());
  effect(onService(set), async () => (await load()).setTrust);

  const exchange = program
    .command('exchange')
    .summary('exchange the ID token of a pipeline for an API token')
    .description(
      'Prints an API token for DPS_TOKEN that is valid for a few minutes. The ID token comes from --id-token-file, from DPS_ID_TOKEN (GitLab and others), or from GitHub, if the job has the permission "id-token: write". A trust rule of the service must accept it.',
    )
    .option('--url <url>', 'address of the service; default: DPS_URL, or http://127.0.0.1:8055')
    .option('--audience <audience>', 'the audience of an ID token from GitHub; default: the origin of the service')
    .option('--id-token-file <file>', 'a file with the ID token; - for stdin')
    .option('--json', 'print JSON');
  effect(exchange, async () => (await load()).exchange);
}

function declareUsers(program: Command, effect: CommandEffect): void {
  const users = program
    .command('users')
    .summary('list, create, update and delete users')
    .description(
      'Manages users in the database of the service. The service can be running or stopped; a running service applies changes immediately.',
    );
  const load = () => import('../../features/accounts/cli.js');

  const list = users.command('list').description('Lists all users.');
  effect(onDatabase(list), async () => (await load()).list);

  const add = users
    .command('add')
    .description('Creates a user. By default, a password is generated and printed once.')
    .argument('<email>', 'e-mail address of the user')
    .addOption(
      oneOf(
        '--role <role>',
        'admin (everything), auditor (reads the schema, history and verification), author (proposes changes), reader (reads collections)',
        ROLES,
      ).makeOptionMandatory(),
    )
    .option('--name <name>', 'display name')
    .option('--password-stdin', 'read the password from stdin')
    .option('--no-password', 'no login; API tokens work');
  effect(onDatabase(add.addOption(reason())), async () => (await load()).add);

  const set = users
    .command('set')
    .description('Updates a user.')
    .argument('<user>', USER)
    .option('--email <email>', 'new e-mail address')
    .option('--name <name>', 'display name')
    .addOption(oneOf('--role <role>', 'new role', ROLES))
    .addOption(oneOf('--status <status>', 'new status', USER_STATUSES))
    .option('--password-stdin', 'read the password from stdin')
    .option('--new-password', 'generate a password and print it once')
    .option('--no-password', 'no login; API tokens work');
  effect(onDatabase(set.addOption(reason())), async () => (await load()).set);

  const remove = users.command('remove').description('Deletes a user.').argument('<user>', USER);
  effect(onDatabase(remove.addOption(reason())), async () => (await load()).remove);

  const erase = users
    .command('erase')
    .description(
      'Deletes a user and erases the personal data from the log: name, reasons, addresses and user agents. This cannot be undone.',
    )
    .argument('[user]', 'e-mail address or id of a user, including deleted users')
    .option('--operator <name>', 'instead, erase an operating system user who ran dps');
  effect(onDatabase(erase.addOption(reason())), async () => (await load()).erase);
}

function declareTokens(program: Command, effect: CommandEffect): void {
  const tokens = program
    .command('tokens')
    .summary('list, create and revoke the API tokens of users')
    .description('Manages API tokens in the database of the service.');
  const load = () => import('../../features/accounts/cli.js');

  const list = tokens.command('list').description('Lists the API tokens of a user.').argument('<user>', USER);
  effect(onDatabase(list), async () => (await load()).listTokens);

  const add = tokens
    .command('add')
    .description('Creates an API token and prints it once.')
    .argument('<user>', USER)
    .option('--name <name>', 'name of the token')
    .option('--expires <when>', 'a time (2030-01-31, 2030-01-31T12:00:00Z) or a number of days (90d); default: never')
    .option('--actions <list>', `actions that the token allows: ${TOKEN_ACTIONS.join(',')}; default: all`)
    .option('--collections <list>', 'names of collections, or patterns (shop_*), that limit the token; default: all')
    .option('--networks <list>', 'addresses and networks that may use it (10.0.0.0/8); default: all');
  effect(onDatabase(add.addOption(reason())), async () => (await load()).addToken);

  const revoke = tokens
    .command('revoke')
    .description('Revokes an API token.')
    .argument('<user>', USER)
    .argument('<token>', 'the id or name of the token');
  effect(onDatabase(revoke.addOption(reason())), async () => (await load()).revokeToken);
}

function declareKeys(program: Command, effect: CommandEffect): void {
  const keys = program
    .command('keys')
    .summary('the keys that sign checkpoints of the log')
    .description(
      `Manages the keys that sign checkpoints, in the database of the service. With CHECKPOINT_KEY_FILE the service uses the key of that file. A key in the database offers little proof. The service keeps public keys, so that you can verify older checkpoints.`,
    );
  const load = () => import('../commands/keys.js');

  const list = keys.command('list').description('Lists all keys, with the position from which each signs.');
  effect(onDatabase(list), async () => (await load()).list);

  const showPublic = keys.command('public').description('print only public keys, one per line, for "dps verify --key"');
  effect(onDatabase(showPublic), async () => (await load()).showPublic);

  const rotate = keys
    .command('rotate')
    .description('Creates a new signing key in the database, and deletes the former private key.');
  effect(onDatabase(rotate), async () => (await load()).rotate);

  const make = keys
    .command('new')
    .description(
      'Writes a new private key to a file for CHECKPOINT_KEY_FILE, and prints the public key. It needs no database.',
    )
    .argument('<file>', 'output file; never overwritten')
    .option('--json', 'print JSON');
  effect(make, async () => (await load()).create);
}

function declareAgents(program: Command, effect: CommandEffect): void {
  const mcp = program
    .command('mcp')
    .summary('connect an agent to a service')
    .description(
      'Serves the Model Context Protocol on standard input and output, for an agent that starts this command. Its tools read the schema of a running service and propose changes.',
    )
    .option('--url <url>', 'address of the service; default: DPS_URL, or http://127.0.0.1:8055')
    .option('--token <token>', 'token of the agent; prefer DPS_TOKEN, which other users cannot see');
  effect(mcp, async () => (await import('../../features/agents/cli.js')).mcp);
}

const WEBHOOK = 'the name or id of the webhook';

function declareWebhooks(program: Command, effect: CommandEffect): void {
  const webhooks = program
    .command('webhooks')
    .summary('send events to other programs')
    .description('Manages the webhooks of a running service. Without a subcommand, lists them.');
  const load = () => import('../../features/webhooks/cli.js');

  const list = webhooks.command('list', { isDefault: true }).description('Lists webhooks.');
  effect(onService(list), async () => (await load()).list);

  const add = webhooks
    .command('add')
    .description('Creates a webhook, and prints its secret once. It receives events from now on.')
    .argument('<name>', 'a unique name')
    .argument('<address>', 'address of the receiver: https://…');
  effect(onService(withFilter(add)), async () => (await load()).add);

  const set = webhooks
    .command('set')
    .description('Updates a webhook.')
    .argument('<webhook>', WEBHOOK)
    .option('--name <name>', 'new name')
    .option('--new-url <address>', 'new address of the receiver');
  effect(onService(withFilter(set)), async () => (await load()).set);

  const enable = webhooks
    .command('enable')
    .description('Enables a webhook. It continues after the last event that it delivered.')
    .argument('<webhook>', WEBHOOK);
  effect(onService(enable.addOption(reason())), async () => (await load()).enable);

  const disable = webhooks.command('disable').description('Disables a webhook.').argument('<webhook>', WEBHOOK);
  effect(onService(disable.addOption(reason())), async () => (await load()).disable);

  const remove = webhooks.command('remove').description('Deletes a webhook.').argument('<webhook>', WEBHOOK);
  effect(onService(remove.addOption(reason())), async () => (await load()).remove);

  const test = webhooks
    .command('test')
    .description('Sends a test message and shows the result. Exit code 1 if the receiver did not accept it.')
    .argument('<webhook>', WEBHOOK);
  effect(onService(test), async () => (await load()).test);

  const deliveries = webhooks
    .command('deliveries')
    .description('Lists the last 100 attempts, newest first.')
    .argument('<webhook>', WEBHOOK);
  effect(onService(deliveries), async () => (await load()).deliveries);

  const replay = webhooks
    .command('replay')
    .description('Delivers events again, beginning with a position.')
    .argument('<webhook>', WEBHOOK)
    .argument('<position>', 'the first position to deliver');
  effect(onService(replay.addOption(reason())), async () => (await load()).replay);

  const rotate = webhooks
    .command('rotate-secret')
    .description('Replaces the secret, and prints the new one once.')
    .argument('<webhook>', WEBHOOK)
    .option('--overlap <hours>', 'hours during which requests are also signed with the former secret; default: 24');
  effect(onService(rotate.addOption(reason())), async () => (await load()).rotate);
}

const withFilter = (command: Command): Command =>
  command
    .addOption(oneOf('--format <format>', 'format of the requests; default: cloudevents', FORMATS))
    .addOption(repeatableOption('--type <pattern>', 'only these event types (collection.*); repeatable'))
    .addOption(
      repeatableOption('--collection <pattern>', 'only these collections (shop_*); repeatable; * for all events'),
    )
    .addOption(reason());

function declareEnvironments(program: Command, effect: CommandEffect): void {
  const environments = program
    .command('environments')
    .summary('compare with other instances of the service')
    .description(
      'Lists the environments of a running service, and compares their schemas with this one. Without a subcommand, lists them.',
    );
  const load = () => import('../../features/environments/cli.js');

  const list = environments
    .command('list', { isDefault: true })
    .description('Lists environments with the result of their last comparison.');
  effect(onService(list), async () => (await load()).list);

  const compare = environments
    .command('compare')
    .description(
      'Compares now, and prints the changes of the environment that this service lacks. "dps apply" applies the diff that --output writes. Exit code 1 if the schemas differ.',
    )
    .argument('<environment>', 'the name or id of the environment')
    .option('--output <file>', 'write the changes as a diff; - for stdout');
  effect(onService(compare), async () => (await load()).compare);
}
