/** The statements and round trips of changes, compared with `test/fixtures/wire.txt`. */
import { CAUSE, type Instance, command, field, startInstance, table } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { createTranscript } from '../support/transcript.js';
import { type Wire, createWire } from '../support/wire.js';
import type { RequestContext } from '../../src/pipeline/types.js';
import { runToEnd } from '../../src/kernel/resumable.js';
import { snapshotHash } from '../../src/schema/snapshot/snapshot.js';

const MASKS: [RegExp, string][] = [
  // The advisory lock key, derived from the name of the database.
  [/(?<=advisory_xact_lock\(\$1\) -- )-?\d+/g, '<key>'],
  [/(?<=max\(number\) > )\d+/g, '<migrations>'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*\+00/g, '<a time>'],
  [/"occurred_at":"[^"]*"/g, '"occurred_at":"<a time>"'],
];

describe('statements of changes sent to PostgreSQL', () => {
  const transcript = createTranscript('wire.txt');
  let database: TestDatabase;
  let proxy: Proxy;
  let instance: Instance;
  let wire: Wire;

  before(async () => {
    database = await createDatabase('migrated');
    proxy = await startProxy(database.connectionString);
    instance = await startInstance(database.connectionString, { writeThrough: proxy.connectionString, max: 1 });
    wire = createWire();
    proxy.intercept((sent, connection) => {
      wire.feed(sent, connection);
      return 'pass';
    });
  });
  after(async () => {
    await instance.stop();
    await proxy.close();
    await database.drop();
  });

  const FLOW = { concurrentIndexes: false };

  /** Runs it and records what was sent, without session cleanup. */
  async function sends(what: string, work: () => Promise<{ kind: string }>): Promise<void> {
    wire.take();
    const { kind } = await work();
    const flights = wire.take().filter(([first = '']) => !first.startsWith('SET SESSION AUTHORIZATION DEFAULT'));
    const shown = flights.map((flight) =>
      flight.map((each) => `    ${nameStatement(each.replaceAll(/\s+/g, ' ').trim())}`).join('\n'),
    );
    transcript.add([`${what}: ${kind}`, ...shown.flatMap((flight) => ['  --', flight])].join('\n'));
  }

  /** Known statements are shown by their number. */
  const numbers = new Map<string, number>();
  function nameStatement(sent: string): string {
    const [text = '', ...values] = sent.split(' -- ');
    const known = numbers.get(text);
    if (known === undefined) numbers.set(text, numbers.size + 1);
    return [`[${known ?? numbers.size}]${known === undefined || text.length < 60 ? ` ${text}` : ''}`, ...values].join(
      ' -- ',
    );
  }

  const { apply, dryRun, plan } = {
    apply: (...input: Parameters<Instance['pipeline']['apply']>) => instance.pipeline.apply(...input),
    dryRun: (...input: Parameters<Instance['pipeline']['dryRun']>) => instance.pipeline.dryRun(...input),
    plan: (...input: Parameters<Instance['pipeline']['plan']>) => instance.pipeline.plan(...input),
  };
  const with_ = (more: Partial<RequestContext> = {}): RequestContext => ({ cause: CAUSE, ...more });

  it('match the recorded list', async () => {
    // The first command on a connection prepares the statements of the others.
    await apply('create-collection', table('first', []), with_());
    await sends('a table is made', () =>
      apply(
        'create-collection',
        table('posts', [field('title'), field('rank', 'integer', { is_indexed: true })]),
        with_(),
      ),
    );
    await sends('a table that is there is made', () => apply('create-collection', table('posts', []), with_()));
    await sends('a field is made', () =>
      apply(
        'create-field',
        command('create-field', { collection: 'posts', body: field('author', 'bigInteger'), ...FLOW }),
        with_(),
      ),
    );
    const update = (name: string, body: object) =>
      command('update-fields', { collection: 'posts', field: name, body, ...FLOW });
    await sends('a field is changed', () =>
      apply('update-fields', update('title', { schema: { max_length: 100 } }), with_()),
    );
    await sends('a field is said as it is', () =>
      apply('update-fields', update('title', { schema: { max_length: 100 } }), with_()),
    );
    await instance.pool.query(`INSERT INTO posts (title) VALUES (NULL), ('long enough to be cut')`);
    await sends('a field is refused by its rows', () =>
      apply('update-fields', update('title', { schema: { is_nullable: false } }), with_()),
    );
    await sends('a field is refused by its lengths', () =>
      apply('update-fields', update('title', { schema: { max_length: 5 } }), with_()),
    );
    await sends('a relation is made', () => {
      const body = { collection: 'posts', field: 'author', related_collection: 'first', schema: {} };
      return apply('create-relation', command('create-relation', { body }), with_());
    });
    await sends('a field is renamed', () =>
      apply(
        'rename-field',
        command('rename-field', { collection: 'posts', field: 'rank', body: { to: 'place' } }),
        with_(),
      ),
    );
    await sends('a table is renamed', () =>
      apply(
        'rename-collection',
        command('rename-collection', { collection: 'posts', body: { to: 'articles' } }),
        with_(),
      ),
    );
    await sends('a dry run of a field', () => {
      const body = field('note', 'text');
      return dryRun('create-field', command('create-field', { collection: 'articles', body, ...FLOW }), with_());
    });
    await sends('the plan of a field alone', () => {
      const body = field('note', 'text');
      return plan('create-field', command('create-field', { collection: 'articles', body, ...FLOW }), with_());
    });
    await sends('a deletion alone, as a plan', () =>
      plan('delete-field', command('delete-field', { collection: 'articles', field: 'title' }), with_()),
    );
    await sends('an If-Match that does not hold', () =>
      apply(
        'delete-field',
        command('delete-field', { collection: 'articles', field: 'title' }),
        with_({ ifMatch: 'x' }),
      ),
    );
    const hash = runToEnd(snapshotHash(instance.store.point().state, '1.2.3'));
    await sends('a field is deleted and kept, where If-Match holds', () =>
      apply(
        'delete-field',
        command('delete-field', { collection: 'articles', field: 'title' }),
        with_({ ifMatch: hash }),
      ),
    );
    await sends('a field is deleted for good', () =>
      apply(
        'delete-field',
        command('delete-field', { collection: 'articles', field: 'place' }),
        with_({ purge: true }),
      ),
    );
    await sends('a table is deleted and kept', () =>
      apply('delete-collection', command('delete-collection', { collection: 'articles' }), with_()),
    );
    await sends('a table is deleted for good', () =>
      apply('delete-collection', command('delete-collection', { collection: 'first' }), with_({ purge: true })),
    );
    const idempotency = {
      key: 'k',
      requestHash: 'h',
      render: () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from('{}') }),
    } as unknown as NonNullable<RequestContext['idempotency']>;
    for (const [what, name] of [
      ['an idempotent table is made', 'again'],
      ['the same once more', 'again'],
    ] as const)
      await sends(what, () => apply('create-collection', table(name, []), with_({ idempotency })));
    await sends('an idempotent table that is there', () =>
      apply('create-collection', table('again', []), with_({ idempotency: { ...idempotency, key: 'l' } })),
    );
    await transcript.expectAsBefore(MASKS);
  });
});
