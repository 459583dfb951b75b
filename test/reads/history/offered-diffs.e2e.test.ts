/**
 * Every diff that the service returns can be applied, regardless of what was deleted, renamed and recreated under the
 * same names. `HISTORIES=2000` runs as many random histories, `PROPERTY_SEED` others.
 */
import { expect } from 'chai';
import { type Random, createRandom } from '../../../scripts/fuzz/random.js';
import { type Reply, json } from '../../support/client.js';
import { type Served, withService } from '../../support/with-service.js';

const HISTORIES = Number(process.env['HISTORIES'] ?? 12);
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20261125);
/** Histories run at the same time, each on its own service that keeps the histories before. */
const LANES = Math.min(4, Math.ceil(HISTORIES / 12));
/** Commands per history, and positions to revert to. */
const COMMANDS = 10;
const LOOKS = 3;

interface Offered {
  hash: string;
  diff: object;
  warnings?: { code: string; collection: string; field: string | null }[];
}

interface DryRun {
  accepted?: boolean;
  errors?: { extensions: { collection?: string; field?: string; parents?: string[] } }[];
}

interface Errors {
  errors: { extensions: { option?: string } }[];
}

/** Tables that a lane adopts first, because the service creates no such tables. */
const ADOPTED = ['parent', 'child', 'grandchild', 'parts', 'part', 'subpart'];
const CREATE_ADOPTED = `
  CREATE TABLE parent (id int PRIMARY KEY, c0 text, c1 int);
  CREATE TABLE child (c2 int) INHERITS (parent);
  CREATE TABLE grandchild () INHERITS (child);
  CREATE TABLE parts (id int PRIMARY KEY, c0 text, c1 int) PARTITION BY RANGE (id);
  CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (100) PARTITION BY RANGE (id);
  CREATE TABLE subpart PARTITION OF part FOR VALUES FROM (0) TO (50);`;

type Sent = readonly [method: string, path: string, body?: object];

interface Lane {
  /** Adds a random history to those before, and goes back from its end. */
  history(): Promise<void>;
  done: readonly string[];
  requests: readonly string[];
}

/** @param start the position before the history, which no diff goes back beyond */
function createLane(served: Pick<Served, 'api' | 'client'>, random: Random, start: number): Lane {
  const { api } = served;
  /** On a busy machine, the service may give up and answer that nothing was changed. */
  const client: Served['client'] = async (path, send) => {
    for (;;) {
      const reply = await served.client(path, send);
      if (reply.status !== 503 || reply.codes.includes('LOG_UNREADABLE')) return reply;
    }
  };
  const ok = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const reply = await client(path, body === undefined ? { method } : json(body, method));
    expect(reply.status, `${method} ${path} ${reply.text}`).within(200, 299);
    return reply.json as T;
  };

  /** Accepted commands. */
  const done: string[] = [];

  /** The positions after each command. Within a batch, inherited columns differ from those of the parent. */
  const ends = [start];
  /** One of the last `most` of them. */
  const back = (most: number): number => ends.at(-1 - random.below(Math.min(ends.length, most))) ?? start;
  const own = () => `t${random.below(3)}`;
  const table = () => (random.chance(0.8) ? own() : ADOPTED[random.below(ADOPTED.length)]);
  const column = () => `c${random.below(3)}`;
  const field = () => ({
    field: column(),
    type: random.chance(0.7) ? 'string' : 'integer',
    interface: 'input',
    schema: random.chance(0.3) ? { is_indexed: true } : {},
  });

  const change = () => {
    const kind = random.below(5);
    if (kind === 0) return { type: 'text' };
    if (kind === 1) return { type: 'bigInteger' };
    return kind === 2 ? { schema: { is_unique: random.chance(0.5) } } : { meta: { note: column() } };
  };

  const restore = async (): Promise<Sent> => {
    const { data } = await ok<{ data: { position: number }[] }>('GET', '/trash?limit=20');
    const entry = data[random.below(Math.max(1, data.length))];
    return ['POST', `/trash/${entry?.position ?? 0}/restore`, {}];
  };

  /** Commands with their relative frequency. */
  const commands: readonly (readonly [frequency: number, create: () => Sent | Promise<Sent>])[] = [
    [3, () => ['POST', '/collections', { collection: table(), schema: {}, fields: [field()] }]],
    [2, () => ['DELETE', `/collections/${table()}`]],
    [1, () => ['POST', `/collections/${table()}/rename`, { to: table() }]],
    [2, () => ['POST', `/fields/${table()}`, field()]],
    [2, () => ['DELETE', `/fields/${table()}/${column()}`]],
    [1, () => ['POST', `/fields/${table()}/${column()}/rename`, { to: column() }]],
    [2, () => ['POST', '/relations', { many_collection: table(), many_field: column(), one_collection: table() }]],
    [1, () => ['DELETE', `/relations/${table()}/${column()}`]],
    [2, () => ['PATCH', `/fields/${table()}/${column()}`, change()]],
    [1, restore],
  ];
  const choices = commands.flatMap(([frequency, create]) => Array.from({ length: frequency }, () => create));
  const command = (): Sent | Promise<Sent> => (choices[random.below(choices.length)] ?? restore)();

  /** Rejected commands are not part of a history. */
  async function sendCommand(): Promise<void> {
    const [method, path, body] = await command();
    const { status, text } = await client(path, body === undefined ? { method } : json(body, method));
    expect(status, `${method} ${path} ${text}`).below(500);
    if (status >= 300) return;
    done.push(`${method} ${path} ${JSON.stringify(body ?? null)}`);
    ends.push(await api.head());
    // Rows, so that data can be lost and restored.
    if (status === 200 && path === '/collections')
      await api.sql(`INSERT INTO "${(body as { collection: string }).collection}" DEFAULT VALUES`);
  }

  /** Change requests that were applied, newest last. */
  const requests: string[] = [];

  /** True if the answer says that the trash cannot keep an object, and to use the option. */
  const needsPurge = ({ json: answer }: Reply): boolean => {
    const errors = (answer as Partial<Errors> | undefined)?.errors ?? [];
    return errors.length > 0 && errors.every(({ extensions }) => extensions.option === 'purge');
  };

  async function dryRun(body: object): Promise<Reply> {
    const reply = await client('/schema/apply?dry_run', json(body));
    return needsPurge(reply) ? client('/schema/apply?dry_run&purge', json(body)) : reply;
  }

  async function propose(body: object): Promise<{ id: string }> {
    const reply = await client('/changes', json(body));
    const {
      status,
      text,
      json: answer,
    } = needsPurge(reply) ? await client('/changes', json({ ...body, purge: true })) : reply;
    expect(status, `${text}\n${done.slice(-40).join('\n')}`).within(200, 299);
    return (answer as { data: { id: string } }).data;
  }

  async function applyRequest(id: string, query: '' | '?dry_run'): Promise<Reply> {
    const reply = await client(`/changes/${id}/apply${query}`, json({}));
    if (!needsPurge(reply)) return reply;
    await ok('PATCH', `/changes/${id}`, { purge: true });
    return client(`/changes/${id}/apply${query}`, json({}));
  }

  /** A response without a diff must say why. */
  function expectReason({ status, text, codes }: Reply, allowed: readonly string[]): void {
    const reported = `${status} ${text}\n${done.slice(-40).join('\n')}`;
    expect(status, reported).within(400, 499);
    for (const code of codes) expect(allowed, reported).include(code);
  }

  /** Only partitioned tables and partitions cannot be converted into earlier tables. */
  function expectImpossible(reply: Reply): void {
    expectReason(reply, ['INVALID_QUERY']);
    expect(reply.text).contain('partition');
  }

  /** Goes back by a change request, which can be reverted later. */
  async function request(): Promise<void> {
    const to = back(10);
    const offered = await client(`/history/diff?to=${to}`);
    if (offered.status !== 200) return expectImpossible(offered);
    const diff = offered.json as { diff: { collections: object[]; fields: object[] } };
    if (diff.diff.collections.length + diff.diff.fields.length === 0) return;
    const data = await propose({ title: `Back to ${to}`, diff });
    const { status, text } = await applyRequest(data.id, '');
    expect(status, `applying ${JSON.stringify(diff)}: ${text}\n${done.slice(-40).join('\n')}`).equal(200);
    requests.push(data.id);
    ends.push(await api.head());
    done.push(`change request back to ${to}`);
  }

  async function reverted(id: string): Promise<void> {
    const path = `/changes/${id}/revert`;
    const first = await client(path, { method: 'POST' });
    const reply = needsPurge(first) ? await client(path, json({ purge: true })) : first;
    if (reply.status >= 300)
      return expectReason(reply, ['INVALID_PAYLOAD', 'INVALID_STATE', 'MERGE_CONFLICT', 'IN_USE']);
    const { data } = reply.json as { data: { id: string } };
    const { status, text } = await applyRequest(data.id, '?dry_run');
    const reported = `the revert of ${id}: ${status} ${text.slice(0, 2_000)}\n${reply.text}\n${done.slice(-40).join('\n')}`;
    expect(status, reported).equal(200);
    expect(JSON.parse(text), reported).include({ accepted: true });
    await ok('POST', `/changes/${data.id}/withdraw`);
  }

  async function expectDryRun(offered: Offered, what: string): Promise<void> {
    const { hash, diff, warnings = [] } = offered;
    const { status, text, json: answer } = await dryRun({ hash, diff });
    const reported = `${what}: ${status} ${text.slice(0, 2_000)}\n${JSON.stringify(offered)}\n${done.slice(-40).join('\n')}`;
    expect(status, reported).below(500);
    const { accepted = false, errors = [] } = answer as DryRun;
    // PostgreSQL may reject the column of a child, although the diff reports that of its parent.
    const isReported = ({ extensions }: NonNullable<DryRun['errors']>[number]): boolean => {
      const { collection, field, parents = [] } = extensions;
      return warnings.some(
        (each) =>
          each.code === 'INHERITED' && each.field === field && [collection, ...parents].includes(each.collection),
      );
    };
    expect(accepted || (errors.length > 0 && errors.every(isReported)), reported).equal(true);
  }

  async function history(): Promise<void> {
    for (let turn = 0; turn < COMMANDS; turn += 1) await sendCommand();
    for (let look = 0; look < LOOKS; look += 1) {
      const to = back(30);
      const offered = await client(`/history/diff?to=${to}`);
      if (offered.status === 200) await expectDryRun(offered.json as Offered, `going back to ${to}`);
      else expectImpossible(offered);

      const then = await client(`/history/snapshot?at=${to}`);
      const theirs = JSON.stringify(then.json);
      const plain = await client('/schema/diff', { ...json({}), body: theirs });
      if (plain.status === 200) await expectDryRun(plain.json as Offered, `a snapshot of ${to}`);
      else expectReason(plain, ['INVALID_PAYLOAD']);

      const merged = await client(
        '/schema/merge',
        json({ base: ends[Math.max(0, ends.indexOf(to) - 3)], theirs: then.json }),
      );
      if (merged.status === 200) await expectDryRun(merged.json as Offered, `a merge of ${to}`);
      else expectReason(merged, ['INVALID_PAYLOAD', 'MERGE_CONFLICT', 'IN_USE']);
    }
    await request();
    const id = requests[random.below(requests.length)];
    if (id !== undefined) await reverted(id);
  }

  return { history, done, requests };
}

describe('diffs offered by the service', function () {
  this.timeout(60_000 + HISTORIES * 5_000);
  const served = Array.from({ length: LANES }, () => withService());

  before(async () => {
    for (const { api } of served) {
      await api.sql(CREATE_ADOPTED);
      await api.ok('POST', '/schema/adopt', { tables: ADOPTED });
    }
  });

  it(`can be applied after ${HISTORIES} random histories`, async () => {
    const start = (await served[0]?.api.head()) ?? 0;
    const lanes = served.map((each, index) => createLane(each, createRandom(SEED + index), start));
    let left = HISTORIES;
    await Promise.all(
      lanes.map(async ({ history }) => {
        while (left > 0) {
          left -= 1;
          await history();
        }
      }),
    );
    expect(lanes.flatMap(({ done }) => done).length).above(HISTORIES * 2);
    expect(lanes.flatMap(({ requests }) => requests).length).above(HISTORIES / 2);
  });
});
