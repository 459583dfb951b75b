import { Argument, type Command } from 'commander';
import {
  type CommandEffect,
  FORCE,
  MODE,
  MODES,
  acknowledge,
  backfill,
  base,
  onService,
  oneOf,
  output,
  reason,
  repeatableOption,
  take,
  changes,
} from './options.js';
import { declareLint, declareProve } from './plans.js';
import { OBJECT_KINDS } from '../../schema/model/objects.js';
import { CHANGE_STATES } from '../../schema/change-requests/model.js';

const READERS = 'an admin, auditor or author';
const AUTHORS = 'an admin or author';

const ID = 'id from "dps changes"';

/** Declares commands. The module of a command is loaded only when the command runs. */
function declareChanges(program: Command, effect: CommandEffect): void {
  const changes = program
    .command('changes')
    .summary('review, apply and follow change requests')
    .description(
      'Manages change requests of a running service. Without a subcommand, lists all of them, newest first.',
    );
  const load = () => import('../../features/change-requests/cli.js');

  const list = changes
    .command('list', { isDefault: true })
    .description('Lists change requests, newest first.')
    .option('--collection <name>', 'only requests that change this collection')
    .option('--author <id>', 'only requests of this user')
    .addOption(oneOf('--state <state>', 'only requests in this state', CHANGE_STATES))
    .option('--limit <n>', 'maximum number; default: 20');
  effect(onService(list, READERS), async () => (await load()).list);

  const show = changes
    .command('show')
    .description('Shows the plan, comments, progress and result of a request.')
    .argument('<id>', ID)
    .option('--wait', 'wait until it has ended, with a progress bar; exit code 2 if it was not applied');
  effect(onService(show, READERS), async () => (await load()).show);

  declareProposals(changes, effect);

  const withdraw = changes
    .command('withdraw')
    .description('Withdraws a request and removes its prepared objects. Authors can withdraw their own requests.')
    .argument('<id>', ID)
    .addOption(reason());
  effect(onService(withdraw, AUTHORS), async () => (await load()).withdraw);
}

function declareProposals(changes: Command, effect: CommandEffect): void {
  const load = () => import('../../features/change-requests/cli.js');

  const open = changes
    .command('open')
    .description('Opens a change request with a diff or a snapshot. Nothing changes until it is applied.')
    .argument('<file>', 'a snapshot, or a diff from "dps diff --output", as JSON or YAML; - for stdin')
    .requiredOption('--title <title>', 'title of the request')
    .option('--online', 'execute slow steps first, while the tables stay in use')
    .option('--purge', 'drop deleted objects immediately instead of moving them to the trash')
    .option('--force', `for a snapshot: ${FORCE}`)
    .addOption(
      oneOf('--mode <mode>', 'for a snapshot: mirror (also delete what is missing from it) or merge', [
        'mirror',
        'merge',
      ]),
    )
    .addOption(backfill())
    .addOption(acknowledge())
    .addOption(reason());
  effect(onService(open, AUTHORS), async () => (await load()).open);

  const update = changes
    .command('update')
    .description('Updates the title of a request, or permits its deletions to be permanent. Its diff does not change.')
    .argument('<id>', ID)
    .option('--title <title>', 'the new title')
    .option('--purge', 'drop deleted objects immediately; existing approvals do not cover this')
    .addOption(reason());
  effect(onService(update, AUTHORS), async () => (await load()).update);

  const comment = changes
    .command('comment')
    .description('Comments on a request, or on one of its changes.')
    .argument('<id>', ID)
    .argument('<text>', 'the comment')
    .option(
      '--place <place>',
      'the change that the comment is about: articles, articles.title, relation:articles.author or view:recent; default: the whole request',
    );
  effect(onService(comment, AUTHORS), async () => (await load()).comment);

  const approve = changes
    .command('approve')
    .description('Approves exactly one plan of a request. In a terminal the command shows it first.')
    .argument('<id>', ID)
    .option('--plan <hash>', 'hash of the reviewed plan; required without a terminal')
    .option('--view <hash>', 'hash of the reviewed findings; default: the current findings')
    .option('--comment <text>', 'a comment')
    .addOption(reason());
  effect(onService(approve), async () => (await load()).approve);

  const reject = changes
    .command('reject')
    .description('Rejects a request and revokes its approvals.')
    .argument('<id>', ID)
    .option('--comment <text>', 'why')
    .addOption(reason());
  effect(onService(reject), async () => (await load()).reject);

  const apply = changes
    .command('apply')
    .description('Applies a request. For an online change, it executes the slow steps first and waits for them.')
    .argument('<id>', ID)
    .option(
      '--at <time>',
      'time to apply it, with time zone, by the clock of the database, such as 2026-11-22T03:00:00Z; the command does not wait',
    )
    .addOption(reason());
  effect(onService(apply), async () => (await load()).apply);

  const rebase = changes
    .command('rebase')
    .description('Rebases a request onto the current schema. If the plan stays the same, its approvals are kept.')
    .argument('<id>', ID)
    .addOption(reason());
  effect(onService(rebase), async () => (await load()).rebase);

  const revert = changes
    .command('revert')
    .description('Opens a request that reverts an applied one, and lists what it restores from the trash.')
    .argument('<id>', ID)
    .option('--title <text>', 'title of the new request')
    .option('--purge', 'drop deleted objects immediately instead of moving them to the trash')
    .addOption(reason());
  effect(onService(revert), async () => (await load()).revert);
}

const PLAN_FORMATS = ['text', 'json', 'markdown', 'github', 'sarif'];

const DIRECTORY = 'a folder of such files';

/** Declares commands. The module of a command is loaded only when the command runs. */
function declareFiles(program: Command, effect: CommandEffect): void {
  const pull = program
    .command('pull')
    .summary('write the schema as files, one per collection')
    .description(
      `Writes the schema of a running service as files for Git: collections/<name>.yaml, and dps.lock.

Files of collections that no longer exist are removed. Other files stay unchanged.`,
    )
    .argument('<directory>', 'a folder, created if it does not exist')
    .option('--check', 'write nothing; exit code 1 if the files differ from the service');
  effect(onService(pull), async () => (await import('../commands/snapshot.js')).pull);

  const plan = program
    .command('plan')
    .summary('show what the files of a folder would change')
    .description(
      `Shows what edited files from "dps pull" would change on a running service.

Changes by others since then are kept. Exit code 0: no changes. 1: changes. 2: conflicts with changes by others, or invalid files. 3: the policy rejects the changes.`,
    )
    .argument('<directory>', DIRECTORY)
    .addOption(base())
    .addOption(take())
    .option('--force', FORCE)
    .addOption(acknowledge())
    .addOption(oneOf('--format <format>', `default: text; github: annotations; sarif: for code scanning`, PLAN_FORMATS))
    .addOption(output());
  effect(onService(plan), async () => (await import('../commands/plan.js')).plan);

  const push = changes(
    program
      .command('push')
      .summary('apply the changes in files to a running service')
      .description(
        `Applies the changes in edited files from "dps pull" to a running service, as a whole or not at all.

Changes by others since then are kept. Afterwards it writes the files again, unless you use --base.`,
      )
      .argument('<directory>', DIRECTORY)
      .addOption(base())
      .addOption(take()),
  )
    .option('--force', FORCE)
    .addOption(backfill())
    .addOption(acknowledge())
    .option('--propose', 'open a change request instead; nothing changes until it is applied')
    .option('--title <title>', 'title of the change request')
    .addOption(reason());
  effect(onService(push), async () => (await import('../commands/plan.js')).push);

  const types = program
    .command('types')
    .summary('generate type definitions')
    .description(
      'Generates types for the schema of a running service: TypeScript for @directus/sdk, Zod, or JSON Schema.',
    )
    .addOption(oneOf('--lang <language>', 'default: ts', ['ts', 'zod', 'json-schema']))
    .option('--at <moment>', 'a position (42), a time (2026-11-21T08:00:00Z, 2026-11-21) or now')
    .addOption(output())
    .option('--check', 'write nothing; exit code 1 if the --output file does not match the schema');
  effect(onService(types), async () => (await import('../commands/snapshot.js')).types);
}

/** Declares commands. The module of a command is loaded only when the command runs. */
function declarePolicy(program: Command, effect: CommandEffect): void {
  const policy = program
    .command('policy')
    .summary('show, set, propose and test the policy')
    .description('Manages the policy of a running service. Without a subcommand, shows it.');
  const load = () => import('../commands/policy.js');

  const show = policy
    .command('show', { isDefault: true })
    .description('Shows the policy; with --json in the format of "dps policy set".');
  effect(onService(show, 'an admin or auditor'), async () => (await load()).showPolicy);

  const set = policy
    .command('set')
    .description('Replaces the policy. Omitted members get their default.')
    .argument('<file>', 'a policy as JSON or YAML; - for stdin')
    .addOption(acknowledge())
    .addOption(reason());
  effect(onService(set), async () => (await load()).setPolicy);

  const propose = policy
    .command('propose')
    .description('Opens a change request for a policy. Applying the request sets it (dps changes apply).')
    .argument('<file>', 'a policy as JSON or YAML; - for stdin')
    .requiredOption('--title <title>', 'the title of the change request')
    .addOption(acknowledge())
    .addOption(reason());
  effect(onService(propose), async () => (await load()).proposePolicy);

  const test = policy
    .command('test')
    .description(
      `Evaluates a change against the current policy or a given one, without executing it.

Exit code 0 if the policy allows the change, 3 if it rejects it.`,
    )
    .argument('<file>', 'a snapshot or a diff as JSON or YAML; - for stdin')
    .option('--policy <file>', 'this policy instead of the current one')
    .option('--online', 'evaluate an online change')
    .option('--force', FORCE)
    .addOption(acknowledge());
  effect(onService(test, 'an admin or auditor'), async () => (await load()).testPolicy);
}

const FORMATS = ['json', 'yaml', 'csv', 'csv_utf8', 'xml'];
const MOMENT = 'a position (42), a time (2026-11-21T08:00:00Z, 2026-11-21) or now';

/** Declares commands. The module of a command is loaded only when the command runs. */
export function declareSchema(program: Command, effect: CommandEffect): void {
  program.commandsGroup('Schema:');
  const snapshot = program
    .command('snapshot')
    .summary('write the schema to a file')
    .description('Writes the schema of a running service as a document.')
    .addOption(oneOf('--format <format>', 'default: json, or yaml if the file ends in .yaml or .yml', FORMATS))
    .option('--include <names>', 'only these collections (comma-separated)')
    .option('--exclude <names>', 'all collections except these')
    .addOption(output());
  effect(onService(snapshot, 'an admin or author'), async () => (await import('../commands/snapshot.js')).snapshot);

  const diff = program
    .command('diff')
    .summary('compare a snapshot with the schema')
    .description(
      `Computes the diff from the schema of a running service to a snapshot.\n\nExit code 1 if there are differences, 0 if there are none.`,
    )
    .argument('<snapshot>', 'a JSON or YAML file, or - for stdin')
    .option('--force', FORCE)
    .addOption(oneOf('--mode <mode>', MODE, MODES))
    .addOption(output('write the diff to this file, for "dps apply"'));
  effect(onService(diff, 'an admin or author'), async () => (await import('../commands/snapshot.js')).diff);

  declareLint(program, effect);
  declareProve(program, effect);

  const apply = changes(
    program
      .command('apply')
      .summary('apply a diff or a snapshot, as a whole or not at all')
      .description(
        `Applies a snapshot or a diff to a running service, as a whole or not at all.

It shows the plan first. In a terminal it asks before it starts, and before any data loss. Without a terminal it starts immediately, and rejects data loss that --allow-drop does not name.`,
      )
      .argument('<file>', 'a snapshot, or a diff from "dps diff --output", as JSON or YAML; - for stdin'),
  )
    .option('--force', `for a snapshot: ${FORCE}`)
    .addOption(oneOf('--mode <mode>', `for a snapshot: ${MODE}`, MODES))
    .addOption(backfill())
    .addOption(acknowledge())
    .addOption(reason());
  effect(onService(apply), async () => (await import('../commands/apply.js')).apply);

  declareFiles(program, effect);
  declarePolicy(program, effect);

  const rename = program
    .command('rename')
    .summary('rename a collection or a field')
    .description(
      `Renames a collection ("dps rename articles posts") or a field ("dps rename posts.title headline").
With --schema, the table of the collection moves to another schema ("dps rename invoices billing.invoices --schema billing").

Rows do not change. References in the schema are renamed too. The output lists references that cannot be renamed.`,
    )
    .argument('<place>', 'a collection, or a field as collection.field')
    .argument('<name>', 'its new name')
    .option('--schema <name>', 'moves the table to this schema of DB_SCHEMAS')
    .addOption(acknowledge())
    .addOption(reason());
  effect(onService(rename), async () => (await import('../commands/apply.js')).rename);

  declareObjects(program, effect);
  declareTrash(program, effect);
  declareChanges(program, effect);
  declareHistory(program, effect);
}

const OBJECT = 'KIND:ID: view:adults, function:total(integer)';
const DEFINITION = 'a file with one CREATE statement, or with GRANT statements; - for stdin';

function declareObjects(program: Command, effect: CommandEffect): void {
  const objects = program
    .command('objects')
    .summary('manage views, functions and other objects')
    .description(
      `Manages views, materialized views, functions, procedures, aggregates, triggers, policies, row
security, statistics objects, rules, privileges, table options, sequences and types of a running
service with OBJECTS=on. Without a subcommand, lists them.

The commands name an object by kind and id: view:adults, materialized_view:totals, function:total(integer),
'trigger:audit on members', 'policy:own on members', row_security:members,
statistics:cities, 'rule:keep on members', 'privileges:editors on members', table_options:members,
sequence:invoice_numbers, type:mood.`,
    );
  const load = () => import('../commands/objects.js');
  const change = (command: Command): Command =>
    onService(
      command
        .option('--dry-run', 'execute it, roll it back, and print the plan; exit code 2 if it would be rejected')
        .addOption(acknowledge())
        .addOption(reason()),
    );

  const list = objects
    .command('list', { isDefault: true })
    .description('Lists objects.')
    .addOption(oneOf('--kind <kind>', 'only objects of this kind', OBJECT_KINDS))
    .option('--name <name>', 'only objects with this name')
    .option('--collection <name>', 'only objects that use this collection');
  effect(onService(list, 'any user'), async () => (await load()).list);

  const show = objects
    .command('show')
    .description('Prints the definition as SQL; with --json the document.')
    .argument('<object>', OBJECT);
  effect(onService(show, 'any user'), async () => (await load()).showObject);

  const create = objects
    .command('create')
    .description('Creates the object of a file. The statement names it.')
    .argument('<file>', DEFINITION);
  effect(change(create), async () => (await load()).create);

  const update = objects
    .command('update')
    .description('Changes the definition, and keeps the comment and the indexes.')
    .argument('<object>', OBJECT)
    .argument('<file>', DEFINITION);
  effect(change(update), async () => (await load()).update);

  const rename = objects
    .command('rename')
    .description('Renames a view or materialized view.')
    .argument('<object>', OBJECT)
    .argument('<name>', 'its new name');
  effect(change(rename), async () => (await load()).rename);

  const remove = objects
    .command('delete')
    .description('Deletes a view or materialized view.')
    .argument('<object>', OBJECT);
  effect(change(remove), async () => (await load()).remove);
}

function declareTrash(program: Command, effect: CommandEffect): void {
  const trash = program
    .command('trash')
    .summary('list, restore and purge deleted objects')
    .description(
      `Manages the trash of a running service. Without a subcommand, lists it, newest first.

A deletion is identified by its position in the log, which "dps history" shows too.`,
    );
  const load = () => import('../../features/trash/cli.js');

  const list = trash
    .command('list', { isDefault: true })
    .description('Lists deleted objects that can be restored, newest first.');
  effect(onService(list, 'an admin or auditor'), async () => (await load()).list);

  const restore = trash
    .command('restore')
    .description('Restores a deleted object with its rows.')
    .argument('<position>', 'position of the deletion')
    .option('--as <name>', 'a new name')
    .addOption(repeatableOption('--without <name>', 'a constraint or index to leave out; repeatable'))
    .option('--dry-run', 'only show the plan')
    .addOption(acknowledge())
    .addOption(reason());
  effect(onService(restore), async () => (await load()).restore);

  const purge = trash
    .command('purge')
    .description('Purges a deleted object permanently.')
    .argument('<position>', 'position of the deletion')
    .addOption(acknowledge())
    .addOption(reason());
  effect(onService(purge), async () => (await load()).purge);
}

function declareHistory(program: Command, effect: CommandEffect): void {
  const history = program
    .command('history')
    .summary('show who changed what, when and why')
    .description(
      `Shows the history of the schema of a running service. Without a subcommand, lists accepted commands, newest first.

To go back to position 40:  dps history diff now 40 --output back.json  and then  dps apply back.json`,
    );
  const load = () => import('../commands/history.js');

  const list = history
    .command('list', { isDefault: true })
    .description('Lists accepted commands, newest first.')
    .option('--collection <name>', 'only commands that changed this collection, under all its names')
    .option('--field <name>', 'with --collection: only commands that changed this field, under all its names')
    .option('--since <moment>', 'only commands from that position on; without --limit all of them')
    .option('--limit <n>', 'maximum number; default: 20');
  effect(onService(list, 'an admin or auditor'), async () => (await load()).list);

  const show = history
    .command('show')
    .description('Shows an event and its change.')
    .argument('<position>', 'position of the event');
  effect(onService(show, 'an admin or auditor'), async () => (await load()).show);

  const diff = history
    .command('diff')
    .description('Shows the changes between two points in time.')
    .argument('<from>', MOMENT)
    .addArgument(new Argument('[to]', `${MOMENT}; default: now`))
    .addOption(output());
  effect(onService(diff, 'an admin or auditor'), async () => (await load()).diff);

  const sql = history
    .command('sql')
    .description('Prints the schema at a point in time as an SQL script.')
    .argument('[moment]', `${MOMENT}; default: now`)
    .addOption(output());
  effect(onService(sql, 'an admin or auditor'), async () => (await load()).sql);
}
