import { Argument, type Command } from 'commander';
import {
  type Does,
  FORCE,
  acknowledge,
  base,
  onService,
  oneOf,
  output,
  reason,
  repeatable,
  take,
  changes,
} from './options.js';
import { CHANGE_STATES } from '../../schema/change-requests/model.js';

const READERS = 'an admin, auditor or author';
const AUTHORS = 'an admin or author';

const ID = 'as "dps changes" shows it';

/** Loads a command only when it runs. */
function declareChanges(program: Command, does: Does): void {
  const changes = program
    .command('changes')
    .summary('changes that wait: for people, or for what is prepared')
    .description('Change requests of a running service. Without a command: all of them, newest first.');
  const load = () => import('../commands/changes.js');

  const list = changes
    .command('list', { isDefault: true })
    .description('Change requests, newest first.')
    .option('--collection <name>', 'only those that change this collection')
    .option('--author <id>', 'only those of this user')
    .addOption(oneOf('--state <state>', 'only those in this state', CHANGE_STATES))
    .option('--limit <n>', 'so many; 20 by default');
  does(onService(list, READERS), async () => (await load()).list);

  const show = changes
    .command('show')
    .description('What a request would do now, what people said of it, how far it is, and what became of it.')
    .argument('<id>', ID)
    .option('--wait', 'until it has ended, with a progress bar; exit code 2 when it was not applied');
  does(onService(show, READERS), async () => (await load()).show);

  declareProposals(changes, does);

  const withdraw = changes
    .command('withdraw')
    .description('Gives a request up: what was prepared is taken away. Authors do so with their own.')
    .argument('<id>', ID)
    .addOption(reason());
  does(onService(withdraw, AUTHORS), async () => (await load()).withdraw);
}

function declareProposals(changes: Command, does: Does): void {
  const load = () => import('../commands/proposals.js');

  const open = changes
    .command('open')
    .description('Proposes a diff or a snapshot: nothing is changed before the request is applied.')
    .argument('<file>', 'a snapshot, or what "dps diff --output" wrote, as JSON or YAML; - for stdin')
    .requiredOption('--title <title>', 'what it is called')
    .option('--online', 'what takes long is prepared first, while the tables are used')
    .option('--purge', 'what it deletes is dropped at once, and not kept in the trash')
    .option('--force', `of a snapshot: ${FORCE}`)
    .addOption(
      oneOf('--mode <mode>', 'of a snapshot: mirror (also remove what it lacks) or merge', ['mirror', 'merge']),
    )
    .addOption(acknowledge())
    .addOption(reason());
  does(onService(open, AUTHORS), async () => (await load()).open);

  const comment = changes
    .command('comment')
    .description('Says something of a request.')
    .argument('<id>', ID)
    .argument('<text>', 'what is said');
  does(onService(comment, AUTHORS), async () => (await load()).comment);

  const approve = changes
    .command('approve')
    .description('Approves the plan of a request, and no other. At a terminal it is shown first.')
    .argument('<id>', ID)
    .option('--plan <hash>', 'the plan that was looked at; needed where nobody can be asked')
    .option('--comment <text>', 'what is said of it')
    .addOption(reason());
  does(onService(approve), async () => (await load()).approve);

  const reject = changes
    .command('reject')
    .description('Rejects a request: what was approved before is not approved any more.')
    .argument('<id>', ID)
    .option('--comment <text>', 'why')
    .addOption(reason());
  does(onService(reject), async () => (await load()).reject);

  const apply = changes
    .command('apply')
    .description('Applies a request. What takes long of it is prepared first, where it asks for that, and waited for.')
    .argument('<id>', ID)
    .option('--at <time>', "when, with its zone, by the database's clock: 2026-11-22T03:00:00Z; nobody waits for it")
    .addOption(reason());
  does(onService(apply), async () => (await load()).apply);

  const rebase = changes
    .command('rebase')
    .description('Merges what a request asks for onto the schema as it is now. Approvals of the same plan stay.')
    .argument('<id>', ID)
    .addOption(reason());
  does(onService(rebase), async () => (await load()).rebase);

  const revert = changes
    .command('revert')
    .description('Opens a request that takes back what an applied one did, and says what comes back from the trash.')
    .argument('<id>', ID)
    .option('--title <text>', 'what the new request is called')
    .addOption(reason());
  does(onService(revert), async () => (await load()).revert);
}

const PLAN_FORMATS = ['text', 'json', 'markdown', 'github', 'sarif'];

const DIRECTORY = 'a folder of such files';

/** Loads a command only when it runs. */
function declareFiles(program: Command, does: Does): void {
  const pull = program
    .command('pull')
    .summary('write the schema as files, one a collection')
    .description(
      `The schema of a running service as files that fit into git: collections/<name>.yaml, and dps.lock.

Files of collections that are no more are removed; what isn't theirs is left alone.`,
    )
    .argument('<directory>', 'a folder, made if need be')
    .option('--check', 'write nothing; exit code 1 when the files are not what the service has');
  does(onService(pull), async () => (await import('../commands/pull.js')).pull);

  const plan = program
    .command('plan')
    .summary('what the files of a folder would change')
    .description(
      `What files that "dps pull" wrote, and somebody changed, would change on a running service.

What others changed there since stays. Exit code 0 when there is nothing to do, 1 when there are changes, 2 when both
changed the same otherwise or the files are wrong, 3 when the policy stops them.`,
    )
    .argument('<directory>', DIRECTORY)
    .addOption(base())
    .addOption(take())
    .option('--force', FORCE)
    .addOption(acknowledge())
    .addOption(
      oneOf('--format <format>', `text by default; github: annotations; sarif: for code scanning`, PLAN_FORMATS),
    )
    .addOption(output());
  does(onService(plan), async () => (await import('../commands/plan.js')).plan);

  const push = changes(
    program
      .command('push')
      .summary('bring a running service what the files change')
      .description(
        `Brings a running service what files that "dps pull" wrote, and somebody changed, change; whole or not at all.

What others changed there since stays. Then the files are written again, as the service has them now; not with --base.`,
      )
      .argument('<directory>', DIRECTORY)
      .addOption(base())
      .addOption(take()),
  )
    .option('--force', FORCE)
    .addOption(acknowledge())
    .option('--propose', 'open a change request instead: nothing is changed before it is applied')
    .option('--title <title>', 'of the change request')
    .addOption(reason());
  does(onService(push), async () => (await import('../commands/push.js')).push);

  const types = program
    .command('types')
    .summary('write types for programs')
    .description('The schema of a running service as types: TypeScript for @directus/sdk, zod, or JSON Schema.')
    .addOption(oneOf('--lang <language>', 'ts by default', ['ts', 'zod', 'json-schema']))
    .option('--at <moment>', 'a position (42), a time (2026-11-21T08:00:00Z, 2026-11-21) or now')
    .addOption(output())
    .option('--check', 'write nothing; exit code 1 when the file of --output is not what the schema says');
  does(onService(types), async () => (await import('../commands/types.js')).types);
}

/** Loads a command only when it runs. */
function declarePolicy(program: Command, does: Does): void {
  const policy = program
    .command('policy')
    .summary('what may be done to the schema without asking')
    .description('The policy of a running service. Without a command: what it says.');
  const load = () => import('../commands/policy.js');

  const show = policy
    .command('show', { isDefault: true })
    .description('What the policy says; with --json as "dps policy set" takes it.');
  does(onService(show, 'an admin or auditor'), async () => (await load()).show);

  const set = policy
    .command('set')
    .description('Sets the policy as a whole: what the file leaves out is as by default.')
    .argument('<file>', 'a policy as JSON or YAML; - for stdin')
    .addOption(acknowledge())
    .addOption(reason());
  does(onService(set), async () => (await load()).set);

  const propose = policy
    .command('propose')
    .description('Opens a change request for a policy: it is set when the request is applied (dps changes apply).')
    .argument('<file>', 'a policy as JSON or YAML; - for stdin')
    .requiredOption('--title <title>', 'the title of the change request')
    .addOption(acknowledge())
    .addOption(reason());
  does(onService(propose), async () => (await load()).propose);

  const test = policy
    .command('test')
    .description(
      `What the policy, or another one, would do about a change; nothing is run.

Exit code 0 when it lets the change through, 3 when it stops it.`,
    )
    .argument('<file>', 'a snapshot or a diff as JSON or YAML; - for stdin')
    .option('--policy <file>', 'this one, in place of the one that is set')
    .option('--online', 'as if it were asked for online')
    .option('--force', FORCE)
    .addOption(acknowledge());
  does(onService(test, 'an admin or auditor'), async () => (await load()).test);
}

const FORMATS = ['json', 'yaml', 'csv', 'csv_utf8', 'xml'];
const MODES = ['mirror', 'merge'];
const MODE = 'mirror (also remove what the snapshot lacks), merge (never remove); mirror by default';
const LEVELS = ['note', 'warn', 'danger'];
const FINDING_FORMATS = ['text', 'json', 'markdown', 'github', 'sarif'];
const MOMENT = 'a position (42), a time (2026-11-21T08:00:00Z, 2026-11-21) or now';

/** Loads a command only when it runs. */
export function declareSchema(program: Command, does: Does): void {
  program.commandsGroup('The schema of a running service:');
  const snapshot = program
    .command('snapshot')
    .summary('write the schema to a file')
    .description('The schema of a running service as a document.')
    .addOption(oneOf('--format <format>', 'json by default, yaml for a file that ends in .yaml or .yml', FORMATS))
    .option('--include <names>', 'only these collections (comma-separated)')
    .option('--exclude <names>', 'all but these collections')
    .addOption(output());
  does(onService(snapshot, 'an admin or author'), async () => (await import('../commands/snapshot.js')).snapshot);

  const diff = program
    .command('diff')
    .summary('compare a snapshot with the schema')
    .description(
      `What it would take to bring a running service to a snapshot.\n\nExit code 1 when there are differences, 0 when there are none.`,
    )
    .argument('<snapshot>', 'a JSON or YAML file, or - for stdin')
    .option('--force', FORCE)
    .addOption(oneOf('--mode <mode>', MODE, MODES))
    .addOption(output('write the diff there, for "dps apply"'));
  does(onService(diff, 'an admin or author'), async () => (await import('../commands/diff.js')).diff);

  declareLint(program, does);

  const apply = changes(
    program
      .command('apply')
      .summary('apply a diff or a snapshot, whole or not at all')
      .description(
        `Brings a running service to a snapshot, or carries out a diff, whole or not at all.

The plan is shown first. At a terminal it asks before it begins, and before anything is lost; elsewhere it begins, and
what would be lost is refused unless --allow-drop names it.`,
      )
      .argument('<file>', 'a snapshot, or what "dps diff --output" wrote, as JSON or YAML; - for stdin'),
  )
    .option('--force', `of a snapshot: ${FORCE}`)
    .addOption(oneOf('--mode <mode>', `of a snapshot: ${MODE}`, MODES))
    .addOption(acknowledge())
    .addOption(reason());
  does(onService(apply), async () => (await import('../commands/apply.js')).apply);

  declareFiles(program, does);
  declarePolicy(program, does);

  const rename = program
    .command('rename')
    .summary('give a collection or a field another name')
    .description(
      `Renames a collection ("dps rename articles posts") or a field ("dps rename posts.title headline").

No row is touched, and what names it in the schema follows. What can't follow is said.`,
    )
    .argument('<place>', 'a collection, or a field as collection.field')
    .argument('<name>', 'its new name')
    .addOption(acknowledge())
    .addOption(reason());
  does(onService(rename), async () => (await import('../commands/rename.js')).rename);

  declareTrash(program, does);
  declareChanges(program, does);
  declareHistory(program, does);
}

function declareTrash(program: Command, does: Does): void {
  const trash = program
    .command('trash')
    .summary('what was deleted and can come back')
    .description(
      `The trash of a running service. Without a command: what is in it, newest first.

Each deletion is named by its position in the log; "dps history" shows it too.`,
    );
  const load = () => import('../commands/trash.js');

  const list = trash
    .command('list', { isDefault: true })
    .description('What was deleted and can come back, newest first.');
  does(onService(list, 'an admin or auditor'), async () => (await load()).list);

  const restore = trash
    .command('restore')
    .description('Restore what one deletion left, with its rows.')
    .argument('<position>', 'of the deletion')
    .option('--as <name>', 'another name than it had')
    .addOption(repeatable('--without <name>', 'a constraint or an index that stays away; may be repeated'))
    .option('--dry-run', 'only show what would happen')
    .addOption(acknowledge())
    .addOption(reason());
  does(onService(restore), async () => (await load()).restore);

  const purge = trash
    .command('purge')
    .description('Purge what one deletion left: it is gone for good.')
    .argument('<position>', 'of the deletion')
    .addOption(reason());
  does(onService(purge), async () => (await load()).purge);
}

function declareHistory(program: Command, does: Does): void {
  const history = program
    .command('history')
    .summary('who changed what, when and why')
    .description(
      `The history of a running service's schema. Without a command: accepted commands, newest first.

To go back to position 40:  dps history diff now 40 --output back.json  and then  dps apply back.json`,
    );
  const load = () => import('../commands/history.js');

  const list = history
    .command('list', { isDefault: true })
    .description('Accepted commands, newest first.')
    .option('--collection <name>', 'only commands that changed this collection, under all its names')
    .option('--field <name>', 'with --collection: only commands that changed this field, under all its names')
    .option('--since <moment>', 'only commands from there on, all of them unless --limit says otherwise')
    .option('--limit <n>', 'so many commands; 20 by default');
  does(onService(list, 'an admin or auditor'), async () => (await load()).list);

  const show = history
    .command('show')
    .description('One event and the change it made.')
    .argument('<position>', 'its number');
  does(onService(show, 'an admin or auditor'), async () => (await load()).show);

  const diff = history
    .command('diff')
    .description('What changed between two moments.')
    .argument('<from>', MOMENT)
    .addArgument(new Argument('[to]', `${MOMENT}; now when absent`))
    .addOption(output());
  does(onService(diff, 'an admin or auditor'), async () => (await load()).diff);

  const sql = history
    .command('sql')
    .description('The schema of a moment as a SQL script.')
    .argument('[moment]', `${MOMENT}; now when absent`)
    .addOption(output());
  does(onService(sql, 'an admin or auditor'), async () => (await load()).sql);
}

function declareLint(program: Command, does: Does): void {
  const lint = program
    .command('lint')
    .summary('what a reviewer should know of a change')
    .description(
      `What bringing a running service to a snapshot would lose, lock, rewrite or break, and the safer ways; nothing is
run, and nobody is locked.

Exit code 0 when there is nothing, 1 when something is found at the level or above, 2 for wrong usage or a failure, 3
when the policy stops it.`,
    )
    .argument(
      '<what>',
      'a snapshot or a diff as a JSON or YAML file, - for stdin, a folder of "dps pull", or the id of a change request',
    )
    .addOption(oneOf('--level <level>', 'from which level on the exit code is 1; warn by default', LEVELS))
    .addOption(oneOf('--format <format>', 'github: annotations of a workflow; text by default', FINDING_FORMATS))
    .option('--force', `of a snapshot or a folder: ${FORCE}`)
    .addOption(oneOf('--mode <mode>', `of a snapshot: ${MODE}`, MODES))
    .addOption(base('of a folder: '))
    .addOption(take('of a folder: '))
    .addOption(acknowledge())
    .addOption(output());
  does(onService(lint), async () => (await import('../commands/lint.js')).lint);
}
