import { useSyncExternalStore, useMemo } from 'react';
import { type QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Session, currentSession, subscribeSession } from '../service/session.js';
import { storeText, readKept } from '../shared/browser-storage.js';
import {
  draftText,
  readDraft,
  type Draft,
  EMPTY,
  isEmpty,
  collectionOf,
  fieldOf,
  relationOf,
  collectionOfKey,
  touchedAtHead,
} from './model.js';
import type { Collection, Field, NewRelation } from '../../schema/model/model.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { collectionsQuery, fieldsQuery, infoQuery, objectsQuery, relationsQuery } from '../service/queries.js';
import { request, requestAnswer } from '../service/request.js';
import { readAnswer } from '../service/send.js';
import type { CollectionDocument, FieldDocument } from '../service/types.js';
import type { Head } from './diff.js';
import { type MarkedDocument, withDraftMarks } from './marked-documents.js';
import { type Source, DraftEditor } from './editor.js';

interface DraftState {
  draft: Draft;
  /** True once the stored draft has been read. Until then, the draft is empty. */
  isRead: boolean;
  /** True if the browser can store the draft. Otherwise, a reload loses it. */
  isKept: boolean;
  /** True if there is an edit to undo. */
  canUndo: boolean;
}

let user: string | null = null;
let state: DraftState = { draft: EMPTY, isRead: false, isKept: true, canUndo: false };
/** The drafts before the last edits, newest last. */
let earlier: Draft[] = [];
const MOST_EARLIER = 50;
/** Counts local edits and reads, to find out if a read is outdated. */
let edits = 0;
let reads = 0;
const listeners = new Set<() => void>();
/** Informs other tabs about a changed draft. */
const tabs = new BroadcastChannel('dps-draft');

const nameOf = (id: string): string => `dps.draft.${id}`;

/** Returns the draft. It is the same object until something changes. */
export const currentDraft = (): DraftState => state;

function subscribeDraft(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function setState(changed: Partial<DraftState>): void {
  state = { ...state, ...changed, canUndo: earlier.length > 0 };
  for (const listener of listeners) listener();
}

/** Switches to the draft of the signed-in user. The draft of another user remains stored. */
function follow(session: Session): void {
  const id = 'user' in session ? session.user.id : null;
  if (id === user) return;
  user = id;
  earlier = [];
  setState({ draft: EMPTY, isRead: id === null, isKept: true });
  if (id !== null) void read(id);
}

/** Reads the stored draft. A local edit in the meantime is newer and wins. Of several reads, the last one wins. */
async function read(id: string): Promise<void> {
  const before = edits;
  const turn = ++reads;
  const stored = await readKept(nameOf(id)).then(
    (text) => ({ draft: readDraft(text), isKept: true }),
    () => ({ draft: EMPTY, isKept: false }),
  );
  if (id !== user || turn !== reads) return;
  if (edits !== before) return setState({ isRead: true });
  // This tab cannot undo edits of another tab.
  earlier = [];
  setState({ ...stored, isRead: true });
}

subscribeSession(() => follow(currentSession()));
follow(currentSession());

tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
  if (user !== null && data === user) void read(user);
};

async function write(draft: Draft): Promise<void> {
  const owner = user;
  if (owner === null) return;
  const isKept = await storeText(nameOf(owner), isEmpty(draft) ? null : draftText(draft));
  if (isKept) tabs.postMessage(owner);
  if (owner === user && state.draft === draft && state.isKept !== isKept) setState({ isKept });
}

/** @param position the current position of the log, which becomes that of an empty draft */
export function editDraft(edit: (draft: Draft) => Draft, position = 0): void {
  const before = state.draft;
  const after = edit(before);
  if (after === before) return;
  earlier = [...earlier, before].slice(-MOST_EARLIER);
  edits += 1;
  const draft = isEmpty(after) ? EMPTY : { ...after, position: before.position || position };
  setState({ draft });
  void write(draft);
}

/** Undoes the last edit. */
export function undoEdit(): void {
  const before = earlier.pop();
  if (before === undefined) return;
  edits += 1;
  setState({ draft: before });
  void write(before);
}

/** Empties the draft. `undoEdit` restores the previous one. */
export const discardDraft = (): void => editDraft(() => EMPTY);

addEventListener('beforeunload', (event) => {
  if (!state.isKept && !isEmpty(state.draft)) event.preventDefault();
});

/** Returns the draft, and renders again when this or another tab changes it. */
export const useDraft = (): DraftState => useSyncExternalStore(subscribeDraft, currentDraft);

interface Answer<T> {
  data: T | undefined;
  error: Error | null;
  refetch: UseQueryResult<unknown>['refetch'];
}

/**
 * Returns the collections with the draft applied. The data is undefined until it has been read. If a refetch fails, the
 * data stays and there is no error.
 */
export function useDraftedCollections(): Answer<MarkedDocument<Collection>[]> {
  const { draft } = useDraft();
  const { data, error, refetch } = useQuery(collectionsQuery());
  const all = useMemo(() => data && withDraftMarks(draft, 'collections', data.map(collectionOf)), [draft, data]);
  return { data: all, error: data === undefined ? error : null, refetch };
}

/** Returns all relations of the schema, like `useDraftedCollections`. */
export function useDraftedRelations(): Answer<MarkedDocument<NewRelation>[]> {
  const { draft } = useDraft();
  const { data, error, refetch } = useQuery(relationsQuery());
  const all = useMemo(() => data && withDraftMarks(draft, 'relations', data.map(relationOf)), [draft, data]);
  return { data: all, error: data === undefined ? error : null, refetch };
}

/** Returns all objects of the schema, like `useDraftedCollections`. Empty on a service that manages only tables. */
export function useDraftedObjects(): Answer<MarkedDocument<SchemaObject>[]> {
  const { draft } = useDraft();
  const { data: info } = useQuery(infoQuery());
  const { data, error, refetch } = useQuery({ ...objectsQuery(), enabled: info?.objects === true });
  const head = info !== undefined && info.objects !== true ? NO_OBJECTS : data;
  const all = useMemo(() => head && withDraftMarks(draft, 'objects', head), [draft, head]);
  return { data: all, error: data === undefined ? error : null, refetch };
}

const NO_OBJECTS: readonly SchemaObject[] = [];

export function useDraftedFields(collection: string | null): Answer<MarkedDocument<Field>[]> {
  const { draft } = useDraft();
  const name = collection === null ? null : headName(draft, collection);
  const { data, error, refetch } = useQuery({ ...fieldsQuery(name ?? ''), enabled: name !== null });
  const all = useMemo(() => {
    const head = name === null ? [] : data?.map(fieldOf);
    return head && collection !== null ? withDraftMarks(draft, 'fields', head, collection) : undefined;
  }, [draft, data, name, collection]);
  return { data: all, error: all === undefined ? error : null, refetch };
}

/** Returns the name of the collection at the head. Null if the draft creates the collection. */
export function headName(draft: Draft, collection: string): string | null {
  const edit = draft.collections.get(collection);
  if (edit !== undefined && (edit.before === null || edit.recreated === true)) return null;
  return draft.names.collections.get(collection) ?? collection;
}

/**
 * Reads the head for an edit of these collections. Includes alias fields of other collections that show their
 * relations.
 */
export async function readSource(client: QueryClient, names: readonly string[]): Promise<Source> {
  const { draft } = currentDraft();
  const { objects: hasObjects } = await client.ensureQueryData(infoQuery());
  const [collections, relations, objects] = await Promise.all([
    client.ensureQueryData(collectionsQuery()),
    client.ensureQueryData(relationsQuery()),
    hasObjects === true ? client.ensureQueryData(objectsQuery()) : NO_OBJECTS,
  ]);
  const flat = relations.map(relationOf);
  const own = new Set(names.map((name) => headName(draft, name)));
  const shown = flat.flatMap(({ many_collection, one_collection, one_field }) =>
    own.has(many_collection) && one_field !== null ? [one_collection] : [],
  );
  const drafts = [...draft.fields.keys()].map((key) => headName(draft, collectionOfKey(key)));
  const there = new Set(collections.map(({ collection }) => collection));
  const wanted = [...new Set([...own, ...shown, ...drafts])].filter((name) => name !== null && there.has(name));
  const fields = await Promise.all(wanted.map((name) => client.ensureQueryData(fieldsQuery(name as string))));
  return { collections: collections.map(collectionOf), relations: flat, fields: fields.flat().map(fieldOf), objects };
}

/** Applies an edit to the draft as it is when the source was read. */
export async function editSchema(
  client: QueryClient,
  names: readonly string[],
  edit: (editor: DraftEditor) => void,
): Promise<void> {
  const source = await readSource(client, names);
  const info = await client.ensureQueryData(infoQuery());
  editDraft((draft) => {
    const editor = new DraftEditor(draft, source);
    edit(editor);
    return editor.draft;
  }, info.position);
}

/* Reads the current state of a draft's collections. All responses must belong to the same version of the schema. */

interface Snapshot {
  collections: CollectionDocument[];
  fields: FieldDocument[];
  relations: NewRelation[];
  /** Absent on a service that manages only tables. */
  objects?: SchemaObject[];
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
    const { collections, fields, relations, objects = [] } = await readAnswer<Snapshot>(answer);
    return {
      position,
      hash: info.hash,
      collections: collections.map(collectionOf),
      fields: fields.map(fieldOf),
      relations: relations.map(relationOf),
      objects,
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
