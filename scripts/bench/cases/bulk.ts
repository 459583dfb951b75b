/** Changes and comparisons of a whole schema. */
import { milliseconds, sendAtInterval, percentile, processorTimeOf, runScript } from '../measure.js';
import type { Case } from '../runner.js';
import { applySnapshot, createBody, diffTo, emptySnapshot, snapshotOf } from '../schemas.js';
import type { Metered, Service } from '../servers.js';

/**
 * Applies a diff, compared with its own DDL as one plain script, and removes the collections, compared with plain
 * drops.
 */
export const apply =
  (count: number, runs: number): Case =>
  async (resources) => {
    const { release } = resources;
    const [service, plain] = [await resources.service(), await resources.server.createDatabase()];
    const full = snapshotOf(count, release);
    const drops = full.collections.map(({ collection }) => `DROP TABLE ${collection} CASCADE;`).join('\n');
    const prepared = { body: '', script: '' };
    const parts = {
      measured: () => milliseconds(() => service.send('POST', '/schema/apply', prepared.body)),
      limit: () => runScript(plain, prepared.script),
    };
    const emptied = async (): Promise<void> => {
      await applySnapshot(service, emptySnapshot(release), '?purge');
      await runScript(plain, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public;');
      const diff = await diffTo(service, full);
      const plan = await service.call<{ statements: { sql: string }[] }>('POST', '/schema/apply?dry_run', diff);
      prepared.script = plan.statements.map(({ sql }) => `${sql};`).join('\n');
      prepared.body = JSON.stringify(diff);
    };
    const size = `${count.toLocaleString('en')} collections`;
    return [
      {
        work: `apply a diff of ${size}`,
        against: 'plain SQL',
        goal: 'apply',
        runs,
        warmUps: 1,
        prepare: emptied,
        ...parts,
      },
      {
        work: `remove ${size}`,
        against: 'plain drops',
        goal: 'remove',
        runs,
        warmUps: 1,
        async prepare() {
          await emptied();
          await Promise.all([parts.measured(), parts.limit()]);
          prepared.body = JSON.stringify(await diffTo(service, emptySnapshot(release)));
          prepared.script = drops;
        },
        ...parts,
      },
    ];
  };

/**
 * A diff that changes nothing and one that changes a note, compared with a server that only parses the body, by
 * processor time of both processes.
 */
export const diff =
  (count: number, runs: number): Case =>
  async (resources) => {
    const service = await filled(resources.service(), snapshotOf(count, resources.release));
    const bare = await resources.bareExpress('');
    const same = await service.send('GET', '/schema/snapshot');
    const edited = JSON.parse(same) as { collections: { meta: object }[] };
    const first = edited.collections[0] as { meta: object };
    first.meta = { ...first.meta, note: 'edited' };
    const posted = (to: Metered, url: string, body: string): Promise<number> =>
      processorTimeOf(to, async () => {
        const response = await fetch(url, { method: 'POST', headers: service.headers, body });
        const text = await response.text();
        if (!response.ok) throw new Error(`${response.status} ${text}`);
      });
    const size = `${count.toLocaleString('en')} collections, ${Math.ceil(same.length / 1024)} KiB, by processor time`;
    return [
      [`no-op diff of ${size}`, 'no-op diff', same] as const,
      [`diff of one edit in ${size}`, 'small edit', JSON.stringify(edited)] as const,
    ].map(([work, goal, body]) => ({
      work,
      against: 'bare Express parsing the body',
      goal,
      runs,
      measured: () => posted(service, `${service.url}/schema/diff`, body),
      limit: () => posted(bare, bare.url, body),
    }));
  };

interface Snapshot {
  collections: { collection: string; meta: { note: string | null } }[];
}

/** Collections that each side of a merge changed. */
const CHANGED = 100;

/** A three-way merge, compared with the diff that changes nothing. */
export const merge =
  (count: number, runs: number): Case =>
  async (resources) => {
    const service = await filled(resources.service(), snapshotOf(count, resources.release));
    const snapshot = await service.call<Snapshot>('GET', '/schema/snapshot');
    const { data } = await service.call<{ data: { position: number } }>('GET', '/server/info');
    const names = snapshot.collections.map(({ collection }) => collection);
    const patches = names.slice(0, CHANGED).map((collection) => ({ collection, meta: { note: 'ours' } }));
    await service.call('PATCH', '/collections', patches);
    for (const { meta } of snapshot.collections.slice(-CHANGED)) meta.note = 'theirs';
    const body = JSON.stringify({ base: data.position, theirs: snapshot });
    const now = await service.send('GET', '/schema/snapshot');
    return [
      {
        work: `merge of ${count.toLocaleString('en')} collections, ${CHANGED} changed on each side`,
        against: 'a diff that changes nothing',
        goal: 'merge',
        runs,
        warmUps: 1,
        measured: () => milliseconds(() => service.send('POST', '/schema/merge', body)),
        limit: () => milliseconds(() => service.send('POST', '/schema/diff', now)),
      },
    ];
  };

/** The 99th percentile of paced reads while a diff is applied, and of reads on an idle service. */
export const readsDuringApply =
  (count: number, runs: number): Case =>
  async (resources) => {
    const service = await filled(resources.service(), emptySnapshot(resources.release));
    await service.call('POST', '/collections', createBody('measured'));
    const p99 = async (meanwhile: Promise<unknown>): Promise<number> =>
      percentile(await sendAtInterval(() => service.call('GET', '/collections/measured'), 5, meanwhile), 0.99);
    const kept = {
      ...emptySnapshot(resources.release),
      collections: [{ collection: 'measured' }],
      fields: undefined,
    };
    let body = '';
    return [
      {
        work: `p99 of reads while ${count.toLocaleString('en')} collections are applied`,
        against: 'idle',
        runs,
        warmUps: 1,
        async prepare() {
          await applySnapshot(service, kept);
          // As text: what this process does with it would delay its own requests.
          const snapshot = JSON.stringify(snapshotOf(count, resources.release));
          body = await service.send('POST', '/schema/diff?mode=merge', snapshot);
        },
        measured: () => p99(service.send('POST', '/schema/apply', body)),
        limit: () => p99(new Promise((resolve) => setTimeout(resolve, 3_000))),
      },
    ];
  };

async function filled(started: Promise<Service>, snapshot: object): Promise<Service> {
  const service = await started;
  await applySnapshot(service, snapshot);
  return service;
}
