/** Reads the current state of a draft's collections. All responses must belong to the same version of the schema. */
import { request, requestAnswer } from '../service/request.js';
import { readAnswer } from '../service/send.js';
import type { CollectionDocument, FieldDocument } from '../service/types.js';
import type { NewRelation } from '../../schema/model/model.js';
import type { Head } from './diff.js';
import { collectionOf, fieldOf, relationOf, type Draft, touchedAtHead } from './model.js';

interface Snapshot {
  collections: CollectionDocument[];
  fields: FieldDocument[];
  relations: NewRelation[];
}

/** Maximum number of attempts, because the schema may change between two requests. */
const TRIES = 5;
/** Maximum length of the names in an address. Every proxy accepts this length. */
const LONGEST = 4_000;

/** @throws ServiceError, ConnectionError */
export async function readHead(draft: Draft, signal?: AbortSignal): Promise<Head> {
  const sending = signal === undefined ? {} : { signal };
  for (let tried = 1; ; tried++) {
    const { data: info } = await request('getInfo', sending);
    const names = await findExisting(touchedAtHead(draft), sending);
    const answer = await requestAnswer('getSnapshot', { query: queryOf(names), ...sending }).catch((error: unknown) => {
      // A collection may have been removed between two requests.
      if (tried >= TRIES) throw error;
      return null;
    });
    if (answer === null) continue;
    const position = Number(answer.headers.get('x-log-position'));
    if (position !== info.position && tried < TRIES) continue;
    const { collections, fields, relations } = await readAnswer<Snapshot>(answer);
    return {
      position,
      hash: info.hash,
      collections: collections.map(collectionOf),
      fields: fields.map(fieldOf),
      relations: relations.map(relationOf),
    };
  }
}

async function findExisting(names: readonly string[], sending: { signal?: AbortSignal }): Promise<string[]> {
  if (names.length === 0) return [];
  const { data } = await request('listCollections', { query: { fields: ['collection'] }, ...sending });
  const there = new Set(data.map(({ collection }) => collection));
  return names.filter((name) => there.has(name));
}

/** Without names, the response is the smallest. If the address would be too long, the response contains everything. */
const queryOf = (names: readonly string[]) =>
  encodeURIComponent(names.join()).length > LONGEST ? {} : { includeCollections: [...names] };
