import type { Command } from 'commander';
import { ROLES, USER_STATUSES } from '../../auth/caller.js';
import { type Does, onDatabase, oneOf, reason } from './options.js';

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
