/**
 * Random sequences of deletions, restores, renames and reverts with relations of all kinds, groups and aliases. After
 * each step, fold, rows and catalog agree; restored objects have their rows; identities are unique. Equal schemas
 * yield equal snapshots, regardless of their history.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type pg from 'pg';
import { createPool } from '../../../src/postgres/pool.js';
import { evolve } from '../../../src/schema/fold/evolve.js';
import type { StoredEvent } from '../../../src/schema/model/events.js';
import { type CollectionNode, type Identity, type State, initialState } from '../../../src/schema/model/state.js';
import { json, type Reply } from '../../support/client.js';
import { silent } from '../../support/instance.js';
import { eventsOf } from '../../support/log.js';
import { limitRuns } from '../../support/runs.js';
import { withService } from '../../support/with-service.js';
import { type Step, step } from './trash-relations.steps.js';

/** Values by field identity and row key. */
type Rows = Map<number, Map<Identity, unknown>>;
type Contents = Map<Identity, Rows>;

interface Kept {
  identity: Identity;
  field: Identity | null;
  rows: Rows;
}

interface Plan {
  warnings?: { code: string }[];
}

const pick = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(all.length, 1)];
const quoted = (name: string): string => `"${name}"`;
/** The id of a relation is the position of its event. */
const withoutIds = (text: string): string => text.replaceAll(/\{"id":\d+,/g, '{');
const column = (field: string, type: string) => ({ field, type, interface: 'input', schema: {} });
const alias = (field: string) => ({
  field,
  type: 'alias',
  interface: 'list',
  schema: null,
  meta: { special: ['o2m'] },
});

describe('random sequences with the trash and relations', function () {
  this.timeout(300_000);
  const { api, client, service } = withService({ consistent: true });
  const other = withService();
  let pool: pg.Pool;
  let folded: State = initialState();
  let kept = new Map<number, Kept>();
  /** The permanent owner of each identity. */
  const owners = new Map<Identity, Identity>();
  let count = 0;

  const nodes = (): CollectionNode[] => [...folded.collections.values()];
  const nodeAt = (index: number): CollectionNode | undefined => pick(nodes(), index);
  const nameAt = (index: number): string => nodeAt(index)?.collection.collection ?? '';
  const fieldAt = (index: number, which: number): string =>
    pick(
      [...(nodeAt(index)?.fields.keys() ?? [])].filter((name) => name !== 'id'),
      which,
    ) ?? '';

  /** A request that may be rejected, but must not cause an internal error. */
  const tried = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const reply = await client(path, body === undefined ? { method } : json(body, method));
    expect(reply.status, `${method} ${path} ${JSON.stringify(body)}: ${reply.text}`).to.be.below(500);
    return reply;
  };

  const snapshot = async (path = '/schema/snapshot', source = client): Promise<string> =>
    withoutIds((await source(path)).text);

  const MOVES: { [D in Step['do']]: (taken: Extract<Step, { do: D }>, moments: number[]) => Promise<unknown> } = {
    create: ({ name }) =>
      tried('POST', '/collections', { collection: name, schema: {}, fields: [column('x', 'string')] }),
    async relate({ many, one, alias: shown, onDelete }) {
      const [from, to] = [nameAt(many), nameAt(one)];
      const field = `f${(count += 1)}`;
      if ((await tried('POST', `/fields/${from}`, column(field, 'integer'))).status >= 300) return;
      const one_field = shown ? `of_${field}` : null;
      if (one_field !== null) await tried('POST', `/fields/${to}`, alias(one_field));
      const relation = { many_collection: from, many_field: field, one_collection: to, one_field };
      await tried('POST', '/relations', { ...relation, schema: { on_delete: onDelete } });
    },
    async join({ many, one }) {
      const held = [...(nodeAt(many)?.relations.keys() ?? [])];
      const [first, second] = [pick(held, one), pick(held, one + 1)];
      if (first === undefined || second === undefined || first === second) return;
      await tried('PATCH', `/relations/${nameAt(many)}/${first}`, { junction_field: second });
    },
    async 'relate to any'({ many, allowed }) {
      const from = nameAt(many);
      const field = `f${(count += 1)}`;
      for (const each of [field, `${field}_of`])
        if ((await tried('POST', `/fields/${from}`, column(each, 'string'))).status >= 300) return;
      await tried('POST', '/relations', {
        many_collection: from,
        many_field: field,
        one_collection: null,
        one_collection_field: `${field}_of`,
        one_allowed_collections: [...folded.collections.keys()].filter((_, index) => (allowed >> index) & 1),
      });
    },
    group: ({ child, parent }) => tried('PATCH', `/collections/${nameAt(child)}`, { meta: { group: nameAt(parent) } }),
    'sort by': ({ on, field }) =>
      tried('PATCH', `/collections/${nameAt(on)}`, { meta: { sort_field: fieldAt(on, field) } }),
    async insert({ on, to }) {
      const node = nodeAt(on);
      if (node === undefined) return;
      const columns = [...node.fields.values()].filter(({ field, schema }) => schema !== null && field !== 'id');
      const values = await Promise.all(
        columns.map(async ({ field, type }) => {
          if (type === 'string') return `value ${(count += 1)}`;
          const one = node.relations.get(field)?.one_collection;
          if (one == null) return null;
          const rows = await api.sql<{ id: number }>(`SELECT id FROM ${quoted(one)} ORDER BY id`);
          return pick([null, ...rows.map(({ id }) => id)], to) ?? null;
        }),
      );
      const [names, places] = [
        columns.map(({ field }) => quoted(field)).join(', '),
        values.map((_, at) => `$${at + 1}`),
      ];
      const table = quoted(node.collection.collection);
      if (columns.length === 0) await api.sql(`INSERT INTO ${table} DEFAULT VALUES`);
      else await api.sql(`INSERT INTO ${table} (${names}) VALUES (${places.join(', ')})`, values);
    },
    async 'delete row'({ on }) {
      // Other fields may reference it.
      const first = `SELECT min(id) FROM ${quoted(nameAt(on))}`;
      if (nameAt(on) !== '')
        await api.sql(`DELETE FROM ${quoted(nameAt(on))} WHERE id = (${first})`).catch(() => undefined);
    },
    rename: ({ on, name }) => tried('POST', `/collections/${nameAt(on)}/rename`, { to: name }),
    'rename field': ({ on, field, name }) =>
      tried('POST', `/fields/${nameAt(on)}/${fieldAt(on, field)}/rename`, { to: name }),
    delete: ({ on }) => tried('DELETE', `/collections/${nameAt(on)}`),
    'delete field': ({ on, field }) => tried('DELETE', `/fields/${nameAt(on)}/${fieldAt(on, field)}`),
    async restore({ on, as }) {
      const position = pick([...kept.keys()], on);
      if (position !== undefined) await tried('POST', `/trash/${position}/restore`, as === undefined ? {} : { as });
    },
    async 'there and back'({ on, field }) {
      const path = field === undefined ? `/collections/${nameAt(on)}` : `/fields/${nameAt(on)}/${fieldAt(on, field)}`;
      const [before, contents, had] = [await snapshot(), await read(), new Set(kept.keys())];
      if ((await tried('DELETE', path)).status !== 204) return;
      await catchUp(contents);
      // Fields without a column have no values to keep.
      const position = [...kept.keys()].find((each) => !had.has(each));
      if (position === undefined) return;
      const reply = await tried('POST', `/trash/${position}/restore`);
      expect([reply.status, reply.text.includes('NOT_RESTORED')], reply.text).to.deep.equal([200, false]);
      expect(await snapshot()).to.equal(before);
    },
    async purge({ on }) {
      const position = pick([...kept.keys()], on);
      if (position === undefined) return;
      await api.ok('DELETE', `/trash/${position}`);
      expect((await tried('POST', `/trash/${position}/restore`)).text).to.contain('purged at');
    },
    async back({ to }, moments) {
      const position = pick(moments, to) as number;
      const diff = await api.ok<Plan>('GET', `/history/diff?to=${position}`);
      const isObstructed = (diff.warnings ?? []).some(({ code }) => code === 'ROWS_IN_THE_WAY');
      const { status, text } = await tried('POST', '/schema/apply', diff);
      expect(status, text).to.equal(isObstructed ? 422 : 204);
      if (status === 204) expect(await snapshot()).to.equal(await snapshot(`/history/snapshot?at=${position}`));
    },
  };

  /** The rows of all tables. */
  const read = async (): Promise<Contents> => {
    const contents: Contents = new Map();
    for (const { collection, fields, identities } of nodes()) {
      const rows = await api.sql<Record<string, unknown>>(`SELECT * FROM ${quoted(collection.collection)}`);
      const named = [...identities.fields].filter(([name]) => fields.get(name)?.schema !== null);
      contents.set(
        identities.collection,
        new Map(
          rows.map((row) => [row['id'] as number, new Map(named.map(([name, identity]) => [identity, row[name]]))]),
        ),
      );
    }
    return contents;
  };

  const catchUp = async (contents: Contents): Promise<Kept[]> => {
    const returned: Kept[] = [];
    for (const event of await eventsOf(pool, { after: folded.position })) {
      noteKept(event, contents);
      if (event.subject?.kind === 'trash') {
        const back = kept.get(Number(event.subject.id));
        if (back !== undefined && event.type !== 'trash.purged') returned.push(back);
        kept.delete(Number(event.subject.id));
      }
      folded = evolve(folded, event);
    }
    return returned;
  };

  const noteKept = ({ type, collection, field, data, position }: StoredEvent, contents: Contents): void => {
    if ((type !== 'collection.deleted' && type !== 'field.deleted') || !('kept_until' in data)) return;
    const { identities } = folded.collections.get(collection ?? '') as CollectionNode;
    const identity = field === null ? null : (identities.fields.get(field) as Identity);
    const rows = contents.get(identities.collection) ?? new Map();
    kept.set(position, { identity: identities.collection, field: identity, rows });
  };

  /** Restored objects that still exist have their former values. */
  const compareReturned = async (returned: readonly Kept[], shown: string): Promise<void> => {
    const contents = await read();
    for (const each of returned) {
      const now = contents.get(each.identity);
      if (now === undefined) continue;
      if (each.field === null) expect([...now.keys()], shown).to.have.members([...each.rows.keys()]);
      for (const [key, row] of now) compareRow(each, key, row, shown);
    }
  };

  /** Only the values of a restored field count. A row that was written in the meantime has none. */
  const compareRow = ({ field, rows }: Kept, key: number, row: ReadonlyMap<Identity, unknown>, shown: string): void => {
    const then = rows.get(key);
    const restored = [...row].filter(([each]) => (field === null ? then?.has(each) === true : each === field));
    for (const [each, value] of restored) expect(value, `${shown}: ${key} ${each}`).to.equal(then?.get(each) ?? null);
  };

  const compare = async (shown: string): Promise<void> => {
    const { data } = await api.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
    expect(data, `${shown}: ${JSON.stringify(data)}`).to.include({ ok: true });
    const { data: listed } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    expect(
      listed.map(({ position }) => position),
      shown,
    ).to.have.members([...kept.keys()]);
    const seen = new Set<Identity>();
    for (const { identities } of nodes())
      for (const identity of [identities.collection, ...identities.fields.values()]) {
        expect(seen.has(identity), `${shown}: ${identity} is there twice`).to.equal(false);
        seen.add(identity);
        const owner = owners.get(identity) ?? identities.collection;
        expect(owner, `${shown}: ${identity} is of another`).to.equal(identities.collection);
        owners.set(identity, owner);
      }
  };

  const run = async (sequence: readonly Step[]): Promise<void> => {
    const moments = [await api.head()];
    for (const taken of [{ do: 'create', name: 'a' }, { do: 'create', name: 'b' }, ...sequence] as Step[]) {
      const shown = JSON.stringify(taken);
      const contents = await read();
      await (MOVES[taken.do] as (taken: Step, moments: number[]) => Promise<unknown>)(taken, moments);
      await compareReturned(await catchUp(contents), shown);
      await compare(shown);
      moments.push(await api.head());
    }
    // On another service, from any state, with a diff that knows only names.
    const diff = await other.client('/schema/diff', json((await client('/schema/snapshot')).json));
    if (diff.status !== 204) await other.api.ok('POST', '/schema/apply', diff.json);
    expect(await snapshot('/schema/snapshot', other.client)).to.equal(await snapshot());
  };

  const clear = async (): Promise<void> => {
    for (const { collection } of (await api.ok<{ data: { collection: string }[] }>('GET', '/collections')).data)
      await client(`/collections/${collection}?purge`, { method: 'DELETE' });
    for (const { position } of (await api.ok<{ data: { position: number }[] }>('GET', '/trash')).data)
      await api.ok('DELETE', `/trash/${position}`);
    await catchUp(new Map());
    kept = new Map();
  };

  it('keep rows, relations, identities and snapshots', async () => {
    const place = { connectionString: service.databaseUrl, schema: 'public', serviceSchema: 'service' };
    pool = createPool({ ...place, max: 1, logger: silent });
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 14, maxLength: 26 }), async (sequence) => {
          try {
            await run(sequence);
          } finally {
            await clear();
          }
        }),
        {
          ...limitRuns(12),
          endOnFailure: process.env['PROPERTY_SHRINK'] === undefined,
        },
      );
    } finally {
      await pool.end();
    }
  });
});
