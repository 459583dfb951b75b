/** Renames among many collections, and changes that only look like renames. */
import type { Work } from './stops.js';
import { apply, diffTo, makeSo, send } from './requests.js';
import { emptySnapshot, snapshotOf } from '../schemas.js';
import type { Service } from '../servers.js';

const COUNT = 3_000;

export function renames(release: string): Work[] {
  const is = (snapshot: object) => (service: Service) => startWith(service, snapshot, release);
  const isSo = async (service: Service): Promise<string> => {
    await is(snapshotOf(COUNT, release))(service);
    return '';
  };
  const differs = (other: object, query = '') => ({
    before: isSo,
    run: (service: Service) => send(service, `/schema/diff${query}`, { text: JSON.stringify(other) }),
  });
  let names = 0;
  const merged = (work: string, theirs: object): Work => ({
    work,
    async before(service) {
      await isSo(service);
      return JSON.stringify({ base: 'now', theirs });
    },
    run: (service, body) => send(service, '/schema/merge', { text: body }),
  });
  return [
    merged(`a merge of ${COUNT} collections, of which 1,000 are renamed`, renamed(COUNT, 1_000, release)),
    {
      ...merged(
        `a merge of ${COUNT} collections from an empty base, with ${COUNT} conflicts`,
        otherNotes(COUNT, release),
      ),
      async before(service) {
        await isSo(service);
        return JSON.stringify({ base: 0, theirs: otherNotes(COUNT, release) });
      },
    },
    { work: `a diff of ${COUNT} collections by other names`, ...differs(otherNames(COUNT, release), '?mode=mirror') },
    { work: `a diff that renames 1,000 of ${COUNT} collections`, ...differs(renamed(COUNT, 1_000, release)) },
    {
      work: 'an apply that renames 300 of 1,000 collections',
      async before(service) {
        await is(snapshotOf(1_000, release))(service);
        return diffTo(renamed(1_000, 300, release))(service);
      },
      run: apply,
    },
    {
      work: `one of ${COUNT} collections renamed`,
      before: isSo,
      run: (service) =>
        send(service, '/collections/collection_00007/rename', { text: JSON.stringify({ to: `other_${++names}` }) }),
    },
  ];
}

async function startWith(service: Service, snapshot: object, release: string): Promise<void> {
  await makeSo(service, emptySnapshot(release));
  await makeSo(service, snapshot);
}

const text = (count: number, release: string): string => JSON.stringify(snapshotOf(count, release));

const otherNames = (count: number, release: string): object =>
  JSON.parse(text(count, release).replaceAll('"collection_', '"item_')) as object;

/** Renames the first `some` of `count` collections. The snapshot contains their former names. */
function renamed(count: number, some: number, release: string): object {
  const isRenamed = (name: string): boolean => Number(name.slice(-5)) < some;
  const snapshotText = text(count, release).replaceAll(/"collection_\d+"/g, (name) =>
    isRenamed(name.slice(1, -1)) ? name.replace('collection_', 'item_') : name,
  );
  const snapshot = JSON.parse(snapshotText) as { collections: { collection: string }[] };
  const collections = snapshot.collections.map((each) =>
    isRenamed(each.collection) ? { ...each, renamed_from: each.collection.replace('item_', 'collection_') } : each,
  );
  return { ...snapshot, collections };
}

function otherNotes(count: number, release: string): object {
  const snapshot = snapshotOf(count, release) as { collections: { collection: string; meta?: object }[] };
  const collections = snapshot.collections.map((each) => ({ ...each, meta: { ...each.meta, note: 'theirs' } }));
  return { ...snapshot, collections };
}
