/**
 * Random sequences of renames, deletions, restores and reverts. After each step, fold, rows and catalog agree, and
 * rows match the model; identities are unique. Another service that reaches the same schema in another way returns
 * the same snapshot, byte for byte.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type pg from 'pg';
import { evolve } from '../../../src/schema/fold/evolve.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { createPool } from '../../../src/postgres/pool.js';
import { silent } from '../../support/instance.js';
import { eventsOf } from '../../support/log.js';
import { limitRuns } from '../../support/runs.js';
import { withService } from '../../support/with-service.js';
import { json } from '../../support/client.js';
import { type Kept, Model, type ModelTable, type Moment } from './trash-model.js';

const TABLES = ['a', 'b', 'c'];
const FIELDS = ['x', 'y', 'z'];

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const), name: fc.constantFrom(...TABLES) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('add' as const), on: fc.nat(9), name: fc.constantFrom(...FIELDS) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('insert' as const), on: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete row' as const), on: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('rename' as const), on: fc.nat(9), name: fc.constantFrom(...TABLES) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('rename field' as const),
      on: fc.nat(9),
      field: fc.nat(9),
      name: fc.constantFrom(...FIELDS),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), on: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('delete field' as const), on: fc.nat(9), field: fc.nat(9) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('restore' as const),
      on: fc.nat(9),
      as: fc.option(fc.constantFrom('a', 'x', 'q')),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('purge' as const), on: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('back' as const), to: fc.nat(30) }) },
);

const NONE = { collection: '', fields: new Map<string, string>() };

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const pick = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(all.length, 1)];

interface InTrash {
  position: number;
  kind: 'collection' | 'field';
  collection: string;
  field: string | null;
}

describe('random sequences with the trash', function () {
  this.timeout(300_000);

  const { api, client, service } = withService({ consistent: true });
  const other = withService();
  let folded: State = initialState();
  /** The permanent object of each identity in the model. */
  const identities = new Map<string, number>();
  let count = 0;

  let pool: pg.Pool;
  const catchUp = async (): Promise<void> => {
    for (const event of await eventsOf(pool, { after: folded.position })) {
      const { collection, fields } = folded.collections.get(event.collection ?? '')?.identities ?? NONE;
      const identity = event.field === null ? collection : fields.get(event.field);
      if (event.type.endsWith('.deleted')) identityAt.set(event.position, identity ?? '');
      folded = evolve(folded, event);
    }
  };

  const trash = async () => (await api.ok<{ data: InTrash[] }>('GET', '/trash')).data;

  const newest = async (is: (each: InTrash) => boolean): Promise<number> => {
    const positions = (await trash()).filter(is).map(({ position }) => position);
    return Math.max(...positions);
  };

  /** @returns whether it succeeded */
  const done = async (expected: boolean, method: string, path: string, body?: unknown): Promise<boolean> => {
    const reply = await client(path, body === undefined ? { method } : json(body, method));
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.satisfy((status: number) =>
      expected ? status < 300 : status >= 400 && status < 500,
    );
    return expected;
  };

  const field = (name: string) => ({ field: name, type: 'string', schema: {}, meta: { interface: 'input' } });

  const MOVES: {
    [D in Step['do']]: (taken: Extract<Step, { do: D }>, model: Model, moments: [number, Moment][]) => Promise<void>;
  } = {
    async create({ name }, model) {
      const body = { collection: name, schema: {}, fields: [field('x'), field('y')] };
      if (await done(model.findTable(name) === undefined, 'POST', '/collections', body))
        model.create(name, ['id', 'x', 'y']);
    },
    async add({ on, name }, model) {
      const table = tableOf(model, on);
      if (table === undefined) return;
      const isFree = ![...table.fields.values()].includes(name);
      if (await done(isFree, 'POST', `/fields/${table.name}`, field(name))) model.addField(table, name);
    },
    async insert({ on }, model) {
      const table = tableOf(model, on);
      if (table === undefined) return;
      const names = [...table.fields.values()].filter((name) => name !== 'id');
      const values = new Map(names.map((name) => [name, `${name} ${(count += 1)}`]));
      const columns = names.map((name) => `"${name}"`).join(', ');
      const [row] = await api.sql<{ id: number }>(
        names.length === 0
          ? `INSERT INTO "${table.name}" DEFAULT VALUES RETURNING id`
          : `INSERT INTO "${table.name}" (${columns}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')}) RETURNING id`,
        [...values.values()],
      );
      model.insert(table, row!.id, new Map([...values, ['id', String(row!.id)]]));
    },
    async 'delete row'({ on }, model) {
      const table = tableOf(model, on);
      const key = pick([...(table?.rows.keys() ?? [])], on);
      if (table === undefined || key === undefined) return;
      await api.sql(`DELETE FROM "${table.name}" WHERE id = $1`, [key]);
      table.rows.delete(key);
    },
    async rename({ on, name }, model) {
      const table = tableOf(model, on);
      if (table === undefined || table.name === name) return;
      const isFree = model.findTable(name) === undefined;
      if (await done(isFree, 'POST', `/collections/${table.name}/rename`, { to: name })) table.name = name;
    },
    async 'rename field'({ on, field: which, name }, model) {
      const [table, source] = fieldOf(model, on, which);
      if (table === undefined || source === undefined || source[1] === name) return;
      const isFree = ![...table.fields.values()].includes(name);
      if (await done(isFree, 'POST', `/fields/${table.name}/${source[1]}/rename`, { to: name }))
        table.fields.set(source[0], name);
    },
    async delete({ on }, model) {
      const table = tableOf(model, on);
      if (table === undefined) return;
      await done(true, 'DELETE', `/collections/${table.name}`);
      model.deleteTable(table, await newest(({ kind }) => kind === 'collection'));
    },
    async 'delete field'({ on, field: which }, model) {
      const [table, source] = fieldOf(model, on, which);
      if (table === undefined || source === undefined) return;
      await done(true, 'DELETE', `/fields/${table.name}/${source[1]}`);
      model.deleteField(table, source[0], await newest(({ kind }) => kind === 'field'));
    },
    async restore({ on, as: given }, model) {
      const entry = pick([...model.trash], on);
      if (entry === undefined) return;
      const [position, kept] = entry;
      const as = given ?? undefined;
      const can = model.findObstacle(kept, as) === null;
      if (await done(can, 'POST', `/trash/${position}/restore`, as === undefined ? {} : { as }))
        model.restore(position, as);
    },
    async purge({ on }, model) {
      const purged = pick([...model.trash.keys()], on);
      if (purged === undefined) return;
      await done(true, 'DELETE', `/trash/${purged}`);
      model.trash.delete(purged);
      await done(false, 'POST', `/trash/${purged}/restore`, {});
    },
    async back({ to }, model, moments) {
      const [position, moment] = pick(moments, to) as [number, Moment];
      const diff = await api.ok<{ warnings?: { code: string }[] }>('GET', `/history/diff?to=${position}`);
      const before = new Set((await trash()).map((each) => each.position));
      await api.ok('POST', '/schema/apply', diff);
      const { restored, deleted } = model.goBack(moment);
      const codes = (diff.warnings ?? []).map(({ code }) => code);
      expect(
        codes.filter((code) => code === 'DATA_RESTORED'),
        JSON.stringify(diff.warnings),
      ).to.have.length(restored);
      await catchUp();
      for (const each of (await trash()).filter(({ position: at }) => !before.has(at)))
        noteDeleted(model, each, deleted);
      expect(deleted, 'something was not kept').to.deep.equal([]);
      const [then, now] = await Promise.all([client(`/history/snapshot?at=${position}`), client('/schema/snapshot')]);
      expect(now.text).to.equal(then.text);
    },
  };

  const tableOf = (model: Model, on: number): ModelTable | undefined => pick([...model.tables.values()], on);

  const fieldOf = (model: Model, on: number, which: number) => {
    const table = tableOf(model, on);
    const fields = [...(table?.fields ?? [])].filter(([, name]) => name !== 'id');
    return [table, pick(fields, which)] as const;
  };

  /** Records what a revert moved to the trash and its position. */
  function noteDeleted(model: Model, { kind, position }: InTrash, deleted: Kept[]): void {
    const at = deleted.findIndex(
      (kept) => kept.kind === (kind === 'field' ? 'field' : 'table') && isSame(position, kept),
    );
    expect(at, `position ${position} was not to be deleted`).to.be.at.least(0);
    model.trash.set(position, ...(deleted.splice(at, 1) as [Kept]));
  }

  /** The identities found so far, by position. */
  const identityAt = new Map<number, string>();
  const isSame = (position: number, kept: Kept): boolean =>
    identities.get(identityAt.get(position) ?? '') === (kept.kind === 'table' ? kept.table.id : kept.field);

  const compare = async (model: Model, taken: unknown): Promise<void> => {
    const shown = JSON.stringify(taken);
    const { data } = await api.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
    expect(data, `${shown}: ${JSON.stringify(data)}`).to.include({ ok: true });
    expect(
      (await trash()).map(({ position }) => position),
      shown,
    ).to.have.members([...model.trash.keys()]);
    expect([...folded.collections.keys()].sort(), shown).to.deep.equal(
      [...model.tables.values()].map(({ name }) => name).sort(),
    );
    for (const table of model.tables.values()) {
      const rows = await api.sql<Record<string, unknown>>(`SELECT * FROM "${table.name}" ORDER BY id`);
      const names = [...table.fields];
      const expected = [...table.rows]
        .sort(([a], [b]) => a - b)
        .map(([, row]) => Object.fromEntries(names.map(([id, name]) => [name, row.get(id) ?? null])));
      expect(
        rows.map((row) => ({ ...row, id: String(row['id']) })),
        `${shown}: ${table.name}`,
      ).to.deep.equal(expected);
      const node = folded.collections.get(table.name)!;
      meets(node.identities.collection, table.id, shown);
      for (const [id, name] of names) meets(node.identities.fields.get(name) ?? '', id, shown);
    }
  };

  const meets = (identity: string, id: number, shown: string): void => {
    const known = identities.get(identity);
    if (known === undefined) {
      expect([...identities.values()], `${shown}: ${id} has become ${identity}`).not.to.include(id);
      identities.set(identity, id);
    } else expect(known, `${shown}: ${identity} is two things`).to.equal(id);
  };

  const clear = async (): Promise<void> => {
    for (const { collection } of (await api.ok<{ data: { collection: string }[] }>('GET', '/collections')).data)
      await client(`/collections/${collection}?purge`, { method: 'DELETE' });
    for (const { position } of await trash()) await api.ok('DELETE', `/trash/${position}`);
  };

  it('keep rows, identities and snapshots', async () => {
    pool = createPool({
      connectionString: service.databaseUrl,
      schema: 'public',
      serviceSchema: 'service',
      max: 1,
      logger: silent,
    });
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 24 }), async (sequence) => {
          const model = new Model();
          identities.clear();
          await catchUp();
          const moments: [number, Moment][] = [[await api.head(), []]];
          try {
            for (const taken of [{ do: 'create', name: 'a' } as Step, ...sequence]) {
              const move = MOVES[taken.do] as (taken: Step, model: Model, moments: [number, Moment][]) => Promise<void>;
              await move(taken, model, moments);
              await catchUp();
              await compare(model, taken);
              moments.push([await api.head(), model.copyTables()]);
            }
            await applyElsewhere();
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

  /** From any state, with a diff that knows only names. */
  async function applyElsewhere(): Promise<void> {
    const snapshot = await client('/schema/snapshot');
    const diff = await other.client('/schema/diff', json(snapshot.json));
    if (diff.status !== 204) await other.api.ok('POST', '/schema/apply', diff.json);
    expect((await other.client('/schema/snapshot')).text).to.equal(snapshot.text);
  }
});
