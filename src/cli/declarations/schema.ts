import { Argument, type Command } from 'commander';
import { declareChanges } from './changes.js';
import { declareFiles } from './files.js';
import { declarePolicy } from './policy.js';
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
