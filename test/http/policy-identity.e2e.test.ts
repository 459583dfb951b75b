/**
 * Random sequences of renames, deletions, restorations and new tables, then a batch that drops a column. A rule of the
 * policy rejects it if and only if its pattern matches one of the names that the table has had.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

const RUNS = Number(process.env['SEQUENCES'] ?? 30);

/** The names of the tables of one run. The pattern of the rule matches the first. */
const NAMES = ['prod_*', 'tmp_*', 'x_*'] as const;

type Step =
  | { do: 'rename' | 'restore'; table: number; to: number }
  | { do: 'delete'; table: number }
  | { do: 'create'; to: number };

/** The batch that drops column `body` of the first table, which it may rename or restore, and may create another table. */
interface Loss {
  way: 'field' | 'collection' | 'diff' | 'change request';
  to: number;
  /** A name of a new table in the same batch. */
  beside: number | null;
}

interface Table {
  /** Null in the trash. */
  name: string | null;
  last: string;
  names: Set<string>;
  /** Position of its last deletion. */
  deleted: number;
}

interface Item {
  collection: string;
  field?: string;
  identity?: string;
  restores?: number;
  diff: unknown;
}

interface Diff {
  hash: string;
  diff: Record<'collections' | 'fields' | 'relations', Item[]>;
}

interface Snapshot {
  collections: { collection: string; renamed_from?: string }[];
  fields: { collection: string; field: string }[];
}

const index = fc.nat(NAMES.length - 1);
const table = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('rename' as const, 'restore' as const), table, to: index }),
  fc.record({ do: fc.constant('delete' as const), table }),
  fc.record({ do: fc.constant('create' as const), to: index }),
);
const loss: fc.Arbitrary<Loss> = fc.record({
  way: fc.constantFrom('field' as const, 'collection' as const, 'diff' as const, 'change request' as const),
  to: index,
  beside: fc.option(index),
});

const out: Step = { do: 'rename', table: 0, to: 1 };
const gone: Step = { do: 'delete', table: 0 };

/** Each of these bypassed the rule before. */
const ESCAPES: [number, Step[], Loss][] = [
  [0, [out, gone], { way: 'diff', to: 2, beside: null }],
  [0, [out, gone], { way: 'diff', to: 1, beside: null }],
  [0, [out, gone], { way: 'change request', to: 2, beside: 0 }],
  [0, [gone, { do: 'restore', table: 0, to: 1 }, gone], { way: 'diff', to: 2, beside: 1 }],
  [1, [{ do: 'rename', table: 0, to: 0 }, { do: 'rename', table: 0, to: 2 }, gone], { way: 'diff', to: 1, beside: 0 }],
];

const DELETIONS = {
  field: (name: string) => `/fields/${name}/body?purge`,
  collection: (name: string) => `/collections/${name}?purge`,
};

/** The documents of one collection under another name. */
const called = <T extends { collection: string }>(documents: T[], from: string, to: string): T[] =>
  documents
    .filter(({ collection }) => collection === from)
    .map((each) => JSON.parse(JSON.stringify(each).replaceAll(JSON.stringify(from), JSON.stringify(to))) as T);

describe('a rule of the policy and the names of a table', function () {
  this.timeout(300_000);
  const { api } = withService({ consistent: true });
  let runs = 0;

  const create = async (name: string): Promise<Table> => {
    const fields = ['title', 'body'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));
    await api.ok('POST', '/collections', { collection: name, schema: {}, fields });
    await api.sql(`INSERT INTO "${name}" (title, body) VALUES ('a', 'b')`);
    return { name, last: name, names: new Set([name]), deleted: 0 };
  };

  /** Skips a step that is impossible now. */
  const take = async (tables: Table[], taken: Step, nameOf: (index: number) => string): Promise<void> => {
    if (taken.do === 'delete') return remove(tables[taken.table]);
    const to = nameOf(taken.to);
    if (tables.some(({ name }) => name === to)) return;
    if (taken.do !== 'create') return name(tables[taken.table], taken.do, to);
    if (tables.length < 3) tables.push(await create(to));
  };

  const remove = async (own: Table | undefined): Promise<void> => {
    if (own === undefined || own.name === null) return;
    await api.ok('DELETE', `/collections/${own.name}`);
    Object.assign(own, { name: null, deleted: await api.head() });
  };

  const name = async (own: Table | undefined, mode: 'rename' | 'restore', to: string): Promise<void> => {
    if (own === undefined || (mode === 'restore') !== (own.name === null)) return;
    if (mode === 'restore') await api.ok('POST', `/trash/${own.deleted}/restore`, { as: to });
    else await api.ok('POST', `/collections/${own.name}/rename`, { to });
    Object.assign(own, { name: to, last: to });
    own.names.add(to);
  };

  /** The diff that gives a table another name and drops its column `body`. */
  const diffOfLiving = async (from: string, to: string, beside: string | null): Promise<Diff> => {
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const own = (name: string) => ({
      collections: called(snapshot.collections, from, name),
      fields: called(snapshot.fields, from, name),
    });
    const renamed = own(to);
    if (from !== to) for (const each of renamed.collections) each.renamed_from = from;
    const others = beside === null ? { collections: [], fields: [] } : own(beside);
    const { diff, hash } = await api.ok<Diff>('POST', '/schema/diff', {
      ...snapshot,
      collections: [
        ...snapshot.collections.filter(({ collection }) => collection !== from),
        ...renamed.collections,
        ...others.collections,
      ],
      fields: [
        ...snapshot.fields.filter(({ collection }) => collection !== from),
        ...renamed.fields.filter(({ field }) => field !== 'body'),
        ...others.fields,
      ],
    });
    return { diff, hash };
  };

  /** The diff that restores a table under a name without its column `body`. */
  const diffOfDeleted = async (position: number, to: string, beside: string | null): Promise<Diff> => {
    const { diff, hash } = await api.ok<Diff>('GET', `/history/diff?to=${position - 1}`);
    const restored = diff.collections.find(({ restores }) => restores === position);
    expect(restored, 'a diff that restores the table').not.to.equal(undefined);
    const named = (items: Item[], name: string): Item[] => called(items, restored?.collection ?? '', name);
    const build = (items: Item[]): Item[] =>
      beside === null
        ? []
        : named(items, beside).map(({ collection, field, diff: entries }) => ({
            collection,
            ...(field && { field }),
            diff: entries,
          }));
    return {
      hash,
      diff: {
        collections: [...named(diff.collections, to), ...build(diff.collections)],
        fields: [...named(diff.fields, to).filter(({ field }) => field !== 'body'), ...build(diff.fields)],
        relations: [],
      },
    };
  };

  const send = (path: string, body?: object) =>
    api.client(path, body === undefined ? { method: 'POST' } : json(body, 'POST'));

  const applyBy = {
    diff: (diff: Diff) => send('/schema/apply', diff),
    async 'change request'(diff: Diff) {
      const { data } = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 'no body', diff });
      const reply = await send(`/changes/${data.id}/apply`);
      if (reply.status !== 200) await api.ok('POST', `/changes/${data.id}/withdraw`);
      return reply;
    },
  };

  /** @returns the response, and the name that the table has after the batch */
  const lose = async (own: Table, others: Table[], { way, to, beside }: Loss, nameOf: (index: number) => string) => {
    if (own.name !== null && way in DELETIONS)
      return { name: own.name, reply: await api.client(DELETIONS[way as 'field'](own.name), { method: 'DELETE' }) };
    const isFree = (name: string) => others.every((each) => each.name !== name);
    const after = [to, ...NAMES.keys()].map(nameOf).find(isFree) ?? '';
    const other = beside === null ? after : nameOf(beside);
    // A snapshot cannot create a table under the name that another table has until then.
    const next = other !== after && other !== own.name && isFree(other) ? other : null;
    const diff = await (own.name === null
      ? diffOfDeleted(own.deleted, after, next)
      : diffOfLiving(own.name, after, next));
    return { name: after, reply: await applyBy[way === 'change request' ? way : 'diff'](diff) };
  };

  it('rejects a loss exactly if the pattern fits one of the names', async () => {
    const seen = { refused: 0, accepted: 0 };
    await fc.assert(
      fc.asyncProperty(index, fc.array(step, { maxLength: 5 }), loss, async (first, steps, last) => {
        runs += 1;
        const run = runs;
        const nameOf = (index: number): string => (NAMES[index] ?? '').replace('*', String(run));
        const own = await create(nameOf(first));
        const tables = [own];
        for (const each of steps) await take(tables, each, nameOf);
        // A diff does not restore a table whose name another table has.
        if (own.name === null && tables.some(({ name }) => name === own.last))
          for (const to of NAMES.keys()) await take(tables, { do: 'restore', table: 0, to }, nameOf);
        await api.ok('PUT', '/policy', { collections: [{ pattern: 'prod_*', findings: { LOSES_DATA: 'refuse' } }] });
        const { name, reply } = await lose(own, tables.slice(1), last, nameOf);
        await api.ok('PUT', '/policy', {});
        const isRefused = [...own.names, name].some((each) => each.startsWith('prod_'));
        seen[isRefused ? 'refused' : 'accepted'] += 1;
        expect(reply.codes, reply.text).to.deep.equal(isRefused ? ['POLICY_REFUSED'] : []);
        if (isRefused && own.name !== null)
          expect(await api.sql(`SELECT title, body FROM "${own.name}"`)).to.deep.equal([{ title: 'a', body: 'b' }]);
      }),
      { numRuns: RUNS, examples: ESCAPES },
    );
    expect(Math.min(seen.refused, seen.accepted)).to.be.greaterThan(0);
  });
});
