/** Reads the current state of a draft's collections from one version of the schema. */
import { request, requestAnswer, withQuery, nameList } from '../service/request.js';
import { readAnswer } from '../service/send.js';
import type { CollectionDocument, FieldDocument, Info } from '../service/types.js';
import type { NewRelation } from '../../schema/model/model.js';
import type { Head } from './diff.js';
import { collectionOf, fieldOf, relationOf, type Draft, touchedAtHead } from './model.js';

interface Snapshot {
  collections: CollectionDocument[];
  fields: FieldDocument[];
  relations: NewRelation[];
}

/** The schema may change between two requests. */
const TRIES = 5;
/** The maximum length of an address that every proxy accepts. */
const LONGEST = 4_000;

/** @throws RefusedError, UnreachableError */
export async function readHead(draft: Draft, signal?: AbortSignal): Promise<Head> {
  const sending = signal === undefined ? {} : { signal };
  for (let tried = 1; ; tried++) {
    const { data: info } = await request<{ data: Info }>('/server/info', sending);
    const names = await findExisting(touchedAtHead(draft), sending);
    const answer = await requestAnswer(pathOf(names), sending).catch((error: unknown) => {
      // A collection may have been removed in between.
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
  const { data } = await request<{ data: { collection: string }[] }>('/collections?fields=collection', sending);
  const there = new Set(data.map(({ collection }) => collection));
  return names.filter((name) => there.has(name));
}

/** Requests the smallest response for no names, and everything if the address would be too long. */
function pathOf(names: readonly string[]): string {
  const path = withQuery('/schema/snapshot', { includeCollections: nameList(names) });
  return path.length > LONGEST ? '/schema/snapshot' : path;
}
