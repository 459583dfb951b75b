/** Reads that cover the complete schema, its history or its tables. */
import { NEEDS, tables } from '../tables.js';
import type { Work } from './stops.js';
import { requestPath, getWork, makeSo } from './requests.js';
import { runScript } from '../measure.js';
import { emptySnapshot } from '../schemas.js';
import type { Service } from '../servers.js';

/** Needs 1,000 unmanaged tables in the database. */
export function adoptions(release: string, count: number, databaseUrl: string): Work[] {
  const script = tables(count);
  let isCreated = false;
  const before = async (service: Service): Promise<string> => {
    await makeSo(service, emptySnapshot(release));
    await runScript(databaseUrl, `DROP SCHEMA public CASCADE; CREATE SCHEMA public; ${NEEDS}${script}`);
    isCreated = true;
    return '';
  };
  const once = async (service: Service): Promise<string> => (isCreated ? '' : before(service));
  const all = JSON.stringify({ all: true });
  return [
    { work: `adopting ${count} tables`, before, run: (service) => service.send('POST', '/schema/adopt', all) },
    {
      work: `adopting ${count} tables, tried (dry_run)`,
      before,
      run: (service) => service.send('POST', '/schema/adopt?dry_run', all),
    },
    {
      work: `the drift of ${count} unmanaged tables`,
      before: once,
      run: (service) => service.send('GET', '/schema/drift'),
    },
    {
      work: `the drift of ${count} adopted tables`,
      before: async (service) => {
        await service.send('POST', '/schema/adopt', all);
        return '';
      },
      run: (service) => service.send('GET', '/schema/drift'),
    },
  ];
}

/** Needs a database with 1,000 collections and their tables. */
export function readsOfTables(): Work[] {
  return [
    getWork('the snapshot of 1,000 collections', '/schema/snapshot'),
    ...['json', 'yaml', 'csv', 'xml'].map((format) =>
      getWork(`the snapshot of 1,000 collections as ${format}`, `/schema/snapshot?export=${format}`),
    ),
    getWork('the SQL script of 1,000 collections', '/history/snapshot?export=sql'),
    getWork('what leads from 1,000 collections to none', '/history/diff?to=0'),
    getWork('what leads from none to 1,000 collections', '/history/diff?from=0'),
    getWork('the relations of 1,000 collections', '/relations'),
    getWork('the verification of the tables of 1,000 collections', '/projections/verify'),
    getWork('the drift of 1,000 collections', '/schema/drift'),
    {
      work: 'the rebuild of the metadata rows',
      run: (service) => service.send('POST', '/projections/metadata/rebuild'),
    },
  ];
}

/** Needs a database with 10,000 collections in the log. */
export function readsOfMany(): Work[] {
  return [
    getWork('the list of 10,000 collections', '/collections'),
    getWork('the list of 10,000 collections, of which two members are shown', '/collections?fields=collection,meta'),
    getWork('the list of 200,000 fields', '/fields'),
    getWork('the list of 200,000 fields, of which two members are shown', '/fields?fields=collection,field'),
    getWork('one field of 10,000 collections', '/fields/collection_000001/field_1'),
    getWork('a page of 1,000 events', '/history/events?limit=1000'),
    getWork('a page of 1,000 batches', '/history/batches?limit=1000'),
    getWork('a page of 1,000 batches, looked for by a text', '/history/batches?limit=1000&q=field_1'),
    getWork('what 100 batches changed', '/history/changes?limit=100'),
    getWork('what the last 100 batches changed', '/history/changes?limit=100&order=desc'),
    getWork('the collections of 10,000 as they were', '/history/schema?at=9999&parts=collections,relations'),
    getWork('the fields of 10,000 collections as they were', '/history/schema?at=9999&parts=fields'),
    getWork('the export of the log', '/history/export'),
    getWork('the verification of the log', '/history/verify'),
    {
      work: 'the rebuild of the metadata rows',
      run: (service) => service.send('POST', '/projections/metadata/rebuild'),
    },
    getWork('the schema of 5,000 collections as it was', '/history/snapshot?at=5000'),
    getWork('the SQL script of 10,000 collections', '/history/snapshot?export=sql'),
    ...['ts', 'zod', 'json-schema'].map((lang) =>
      getWork(`the types of 10,000 collections as ${lang}`, `/schema/types?lang=${lang}`),
    ),
    getWork('what leads from 10,000 collections to none', '/history/diff?to=0'),
    { work: 'what leads from none to 10,000 collections, which is too much', run: requestPath('/history/diff?from=0') },
    getWork('the verification of 10,000 collections, of which nothing is there', '/projections/verify'),
    getWork('the drift of 10,000 collections, of which nothing is there', '/schema/drift'),
    getWork('the hash of 10,000 collections', '/server/info'),
    getWork('the metrics of 10,000 collections', '/metrics'),
  ];
}
