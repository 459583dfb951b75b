/** Reviews the draft on top of the head that was read. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  type Draft,
  type Head,
  draftDiff,
  editDraft,
  readHead,
  settled,
  touchedAtHead,
  remainingDraft,
} from '../../../draft/index.js';
import { valueText } from '../../../shared/changes/sentences.js';
import { keyOf, leftOutOf, memberKeyOf, titleOf } from '../model/items.js';
import { Frame } from '../parts/notes.js';
import { Workspace } from '../workspace.js';
import { STILL } from './base-select.js';
import { type RefreshState, renewalOf } from '../use-review.js';

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
      settle: (choice: 'mine' | 'theirs') => editDraft((before) => settled(before, head, conflict, choice)),
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
