/** Reviews the draft on top of the head that was read. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { NewRelation } from '../../../../schema/model/model.js';
import { type Head, draftDiff, resolveConflict } from '../../../draft/diff.js';
import { remainingDraft } from '../../../draft/edits.js';
import { type Draft, touchedAtHead, collectionOf, fieldOf, relationOf } from '../../../draft/model.js';
import { editDraft } from '../../../draft/store.js';
import { request, requestAnswer } from '../../../service/request.js';
import { readAnswer } from '../../../service/send.js';
import type { CollectionDocument, FieldDocument } from '../../../service/types.js';
import { valueText } from '../../../shared/changes/sentences.js';
import { keyOf, leftOutOf, memberKeyOf, titleOf } from '../model/items.js';
import { Frame } from '../parts/notes.js';
import { type RefreshState, renewalOf } from '../use-review.js';
import { Workspace } from '../workspace.js';
import { STILL } from './base-select.js';

/**
 * Reviews the draft. It is not refetched while the same collections are edited.
 * @param props.draft a draft that is not empty
 */
export function DraftSource({ draft }: { draft: Draft }) {
  const touched = useMemo(() => touchedAtHead(draft), [draft]);
  const query = useQuery({
    ...STILL,
    queryKey: ['review', 'draft', touched],
    queryFn: ({ signal }) => readHead(draft, signal),
  });
  return (
    <Frame title="Your draft" query={query} label="Loading the current schema">
      {(head) => <OnHead draft={draft} head={head} renewal={renewalOf(query)} />}
    </Frame>
  );
}

interface Props {
  draft: Draft;
  head: Head;
  renewal: RefreshState;
}

function OnHead({ draft, head, renewal }: Props) {
  const { hash, diff, conflicts } = useMemo(() => draftDiff(draft, head), [draft, head]);
  const reviewed = useMemo(
    () => ({ hash, position: head.position, diff: diff as never, warnings: [] }),
    [hash, diff, head.position],
  );
  const descriptions = conflicts.map((conflict) => {
    const { part, collection, field, path, base, mine, theirs } = conflict;
    const key = keyOf(part, collection, field);
    return {
      key: path.length === 0 ? key : memberKeyOf(key, path),
      name: titleOf({ collection, field }),
      path,
      base: wordOf(base, path),
      mine: wordOf(mine, path),
      theirs: wordOf(theirs, path),
      settle: (choice: 'mine' | 'theirs') => editDraft((before) => resolveConflict(before, head, conflict, choice)),
    };
  });
  return (
    <Workspace
      source={{
        // Another draft has another position, so that it has its own stored input.
        key: `draft ${draft.position}`,
        title: 'Your draft',
        about: 'Your pending changes. Other users do not see them until you apply or propose them.',
        reviewed,
        isWhole: false,
        renewal,
        conflicts: descriptions,
        onApplied: (left) => editDraft((now) => remainingDraft(now, draft, leftOutOf(left))),
      }}
    />
  );
}

/** A document as a whole either exists or not. Its members are among the changes. */
const wordOf = (value: unknown, path: readonly string[]): string =>
  path.length > 0 ? valueText(value) : value === undefined || value === null ? 'absent' : 'present';

/* Reads the current state of a draft's collections. All responses must belong to the same version of the schema. */

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
async function readHead(draft: Draft, signal?: AbortSignal): Promise<Head> {
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
