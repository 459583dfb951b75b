import type { Command } from 'commander';
import { type Does, FORCE, acknowledge, onService, reason } from './options.js';

/** Loads a command only when it runs. */
export function declarePolicy(program: Command, does: Does): void {
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
