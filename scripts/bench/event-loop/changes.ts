/** Changes of the maximum size, and rejected ones of that size. */
import { writeYaml } from '../../../src/http/formats.js';
import type { Work } from './stops.js';
import { apply, diffTo, filled, list, makeSo, MIB, sizeInMib, OTHER_BODY, send, type Sent } from './requests.js';
import { emptySnapshot, snapshotOf, wideSnapshot } from '../schemas.js';
import type { Service } from '../servers.js';

/** Bodies of the maximum size: realistic ones, and those with as many values as allowed in few bytes. */
export function documents(release: string): Work[] {
  const snapshot = snapshotOf(3_000, release);
  const yaml = writeYaml(snapshotOf(1_000, release));
  const bodies: Record<string, string> = {
    'a snapshot of 3,000 collections': JSON.stringify(snapshot),
    '4,500,000 values': `[${filled('[{}', '{}', 12 * MIB)}],${filled('[1', '1', 6 * MIB)}]]`,
    '900,000 empty collections': `{"version":1,"service":"${release}","vendor":"postgres","collections":${filled('[{}', '{}', 2_700_000)}]}`,
    'strings of 30 MiB': `{"version":1,"collections":[${filled('"x"', `"${'ä'.repeat(50_000)}"`, 30 * MIB)}]}`,
  };
  return [
    ...Object.entries(bodies).map(([name, text]) => ({
      work: `a diff of ${name}, ${sizeInMib(text)}`,
      run: (service: Service) => send(service, '/schema/diff?mode=merge', { text }),
    })),
    {
      work: `a diff of 1,000 collections as YAML, ${sizeInMib(yaml)}`,
      run: (service) => send(service, '/schema/diff?mode=merge', { text: yaml, type: 'application/yaml' }),
    },
    {
      work: 'a diff of 1,000 collections as an uploaded file of YAML',
      run: (service) => send(service, '/schema/diff?mode=merge', { ...upload(yaml) }),
    },
  ];
}

function upload(text: string): Sent {
  const head = '--cut\r\nContent-Disposition: form-data; name="file"; filename="schema.yaml"\r\n\r\n';
  return { text: `${head}${text}\r\n--cut--\r\n`, type: 'multipart/form-data; boundary=cut' };
}

export function applies(release: string): Work[] {
  const nothing = emptySnapshot(release);
  const thousand = snapshotOf(1_000, release);
  const from = (before: object, to: object) => async (service: Service) => {
    await makeSo(service, before);
    return diffTo(to)(service);
  };
  let keys = 0;
  const wide = (isNullable: boolean): object => wideSnapshot(8, isNullable, release);
  return [
    {
      work: 'the plan that makes 12,000 columns NOT NULL (explain)',
      before: from(wide(true), wide(false)),
      run: (service, diff) => service.send('POST', '/schema/apply?explain', diff),
    },
    {
      work: 'an apply of 3,000 collections, tried (dry_run)',
      before: from(nothing, snapshotOf(3_000, release)),
      run: (service, diff) => service.send('POST', '/schema/apply?dry_run', diff),
    },
    { work: 'an apply of 1,000 collections', before: from(nothing, thousand), run: apply },
    {
      work: 'an apply of 1,000 collections under an Idempotency-Key',
      before: from(nothing, thousand),
      run: (service, text) => send(service, '/schema/apply', { text, headers: { 'Idempotency-Key': `key-${++keys}` } }),
    },
    { work: 'an apply that removes 1,000 collections', before: from(thousand, nothing), run: apply },
    {
      work: 'an apply that is refused at its last collection, of 3,000',
      before: from(nothing, snapshotOf(3_000, release)),
      run(service, text) {
        const last = text.lastIndexOf('"previous"');
        const wrong = `${text.slice(0, last)}"Previous "${text.slice(last + '"previous"'.length)}`;
        return send(service, '/schema/apply', { text: wrong });
      },
    },
  ];
}

const dropAll = (release: string) => async (service: Service) => {
  await makeSo(service, emptySnapshot(release));
  return '';
};

/** Lists of one MiB, or as long as PostgreSQL allows. */
export function lists(release: string): Work[] {
  const name = (index: number): string => `item_${String(index).padStart(5, '0')}`;
  const fields = list(OTHER_BODY, (index) => ({ field: name(index), type: 'integer', interface: 'input' }));
  const aliases = list(OTHER_BODY, (index) => ({ field: name(index), type: 'alias', interface: 'x' }));
  const folders = list(OTHER_BODY, (index) => ({ collection: name(index), schema: null }));
  const withFields = (fields: object[]) => JSON.stringify({ collection: 'wide', schema: {}, fields: fields });
  const patches = list(OTHER_BODY, (index) => ({ field: name(index), meta: { note: 'n' } }));
  const folderPatches = list(OTHER_BODY, (index) => ({ collection: name(index), meta: { note: 'n' } }));
  const before = dropAll(release);
  const posted = (work: string, text: string): Work => ({
    work,
    before,
    run: (service) => send(service, '/collections', { text }),
  });
  const patched = (work: string, first: string, { path, text }: { path: string; text: string }): Work => ({
    work,
    async before(service) {
      await before(service);
      return service.send('POST', '/collections', first);
    },
    run: (service) => send(service, path, { method: 'PATCH', text }),
  });
  return [
    posted('a collection of 1,500 columns', withFields(fields.slice(0, 1_500))),
    posted(`a collection of ${fields.length} columns, refused`, withFields(fields)),
    posted(`a collection of ${aliases.length} fields without columns`, withFields(aliases)),
    posted('1,000 collections', JSON.stringify(folders.slice(0, 1_000).map((each) => ({ ...each, schema: {} })))),
    posted('2,000 folders', JSON.stringify(folders.slice(0, 2_000))),
    posted(`${folders.length} folders, of which the last is refused`, JSON.stringify([...folders, { collection: 7 }])),
    posted('half a million values that are refused', filled('[1', '1', OTHER_BODY) + ']'),
    patched(`changes of ${aliases.length} fields without columns`, withFields(aliases), {
      path: '/fields/wide',
      text: JSON.stringify(patches.slice(0, aliases.length)),
    }),
    patched(`changes of ${patches.length} fields, of which the last are refused`, withFields(aliases), {
      path: '/fields/wide',
      text: JSON.stringify(patches),
    }),
    patched('changes of 1,500 columns', withFields(fields.slice(0, 1_500)), {
      path: '/fields/wide',
      text: JSON.stringify(
        fields.slice(0, 1_500).map((each) => ({ ...each, interface: undefined, schema: { is_nullable: false } })),
      ),
    }),
    patched('changes of 2,000 folders', JSON.stringify(folders.slice(0, 2_000)), {
      path: '/collections',
      text: JSON.stringify(folderPatches.slice(0, 2_000)),
    }),
    {
      work: 'one field of a collection of 20,000',
      async before(service) {
        await before(service);
        return service.send('POST', '/collections', withFields(aliases));
      },
      run: (service) => send(service, '/fields/wide', { text: JSON.stringify({ field: 'more', type: 'alias' }) }),
    },
  ];
}
