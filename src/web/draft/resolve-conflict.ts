import { type Conflict, type Head, byDraftNames } from './diff.js';
import { discard } from './edits.js';
import { type Draft, type Edit, memberKey } from './model.js';

/** The draft without this conflict; the same draft if it no longer contains it. */
export function settled(draft: Draft, head: Head, conflict: Conflict, choice: 'mine' | 'theirs'): Draft {
  const { part, collection, field, path } = conflict;
  const key = field === null ? collection : memberKey(collection, field);
  const edit = draft[part].get(key) as Edit<object> | undefined;
  if (edit === undefined) return draft;
  if (path.length === 0) {
    if (choice === 'theirs') return discard(draft, part, key);
    const theirs = byDraftNames(draft, head)[part].get(key) ?? null;
    return withEdit(draft, part, key, { ...edit, before: theirs });
  }
  const theirs = (document: object | null) => document && withMember(document, path, conflict.theirs);
  const after = choice === 'mine' ? edit.after : theirs(edit.after);
  return withEdit(draft, part, key, { ...edit, before: theirs(edit.before), after });
}

const withEdit = (draft: Draft, part: Conflict['part'], key: string, edit: Edit<object>): Draft => ({
  ...draft,
  [part]: new Map(draft[part] as ReadonlyMap<string, Edit<object>>).set(key, edit),
});

function withMember(document: object, [first = '', ...rest]: readonly string[], value: unknown): object {
  const members = { ...document } as { [member: string]: unknown };
  if (rest.length > 0) members[first] = withMember(members[first] as object, rest, value);
  else if (value === undefined) delete members[first];
  else members[first] = value;
  return members;
}
