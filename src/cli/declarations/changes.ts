import type { Command } from 'commander';
import { type Does, FORCE, acknowledge, onService, oneOf, reason } from './options.js';
import { CHANGE_STATES } from '../../schema/change-requests/model.js';

const READERS = 'an admin, auditor or author';
const AUTHORS = 'an admin or author';

const ID = 'as "dps changes" shows it';

/** Loads a command only when it runs. */
export function declareChanges(program: Command, does: Does): void {
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
