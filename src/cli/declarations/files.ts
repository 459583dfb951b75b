import type { Command } from 'commander';
import { type Does, FORCE, acknowledge, base, onService, oneOf, output, reason, take, changes } from './options.js';

const PLAN_FORMATS = ['text', 'json', 'markdown', 'github', 'sarif'];

const DIRECTORY = 'a folder of such files';

/** Loads a command only when it runs. */
export function declareFiles(program: Command, does: Does): void {
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
