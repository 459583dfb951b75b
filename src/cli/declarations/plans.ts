/* Commands that show what a change would do, and change nothing. */
import type { Command } from 'commander';
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
  take,
} from './options.js';

const LEVELS = ['note', 'warn', 'danger'];
const FINDING_FORMATS = ['text', 'json', 'markdown', 'github', 'sarif'];

export function declareLint(program: Command, effect: CommandEffect): void {
  const lint = program
    .command('lint')
    .summary('show the findings of a change')
    .description(
      `Shows what applying a snapshot to a running service would lose, lock, rewrite or break, and safer alternatives. Nothing is executed or locked.

Exit code 0: no findings. 1: findings at the level or above. 2: wrong usage or failure. 3: the policy rejects the change.`,
    )
    .argument(
      '<what>',
      'a snapshot or a diff as a JSON or YAML file, - for stdin, a folder of "dps pull", or the id of a change request',
    )
    .addOption(oneOf('--level <level>', 'level from which the exit code is 1; default: warn', LEVELS))
    .addOption(oneOf('--format <format>', 'github: annotations of a workflow; default: text', FINDING_FORMATS))
    .option('--force', `for a snapshot or a folder: ${FORCE}`)
    .addOption(oneOf('--mode <mode>', `for a snapshot: ${MODE}`, MODES))
    .addOption(base('for a folder: '))
    .addOption(take('for a folder: '))
    .addOption(acknowledge())
    .addOption(output());
  effect(onService(lint), async () => (await import('../commands/policy.js')).lint);
}

export function declareProve(program: Command, effect: CommandEffect): void {
  const prove = program
    .command('prove')
    .summary('execute a change, report its other effects, and roll it back')
    .description(
      `Executes a diff or a snapshot on the database of a running service, reports effects that its plan does not contain, and rolls everything back.

Exit code 0: no other effects found. 1: the change has other effects. 2: PostgreSQL rejects the change. 3: the policy rejects it.`,
    )
    .argument('<file>', 'a snapshot, or a diff from "dps diff --output", as JSON or YAML; - for stdin')
    .option('--purge', 'drop deleted objects immediately instead of moving them to the trash')
    .option('--force', `for a snapshot: ${FORCE}`)
    .addOption(oneOf('--mode <mode>', `for a snapshot: ${MODE}`, MODES))
    .addOption(backfill())
    .addOption(acknowledge());
  effect(onService(prove), async () => (await import('../commands/plan.js')).prove);
}
