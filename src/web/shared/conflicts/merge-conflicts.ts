/** Merge conflicts from responses, and their resolutions. */
import { isObject, jsonEqual } from '../../../kernel/json.js';
import type { ConflictKind, MergeConflict, MergePlace, Resolution } from '../../../schema/merge/model.js';
import { RefusedError } from '../../service/errors.js';
import { valueText } from '../changes/sentences.js';
import type { ShownConflict } from './shown-conflict.js';

/** Null for other errors. */
export function conflictsIn(error: Error | null): MergeConflict[] | null {
  if (!(error instanceof RefusedError) || error.code !== 'MERGE_CONFLICT') return null;
  return error.problems.flatMap(({ message, extensions }) => {
    const { place, kind, base, ours, theirs } = extensions as unknown as MergeConflict;
    // A paginated error may end with text only.
    return isObject(place) ? [{ kind, place, message, base, ours, theirs }] : [];
  });
}

const keyOfPlace = ({ part, collection, field, path }: MergePlace): string =>
  JSON.stringify([part, collection, field, path ?? []]);

/** `theirs` is the current value, `ours` of the merge. */
export function shownConflict({ kind, place, message, base, ours, theirs }: MergeConflict): ShownConflict {
  const { collection, field = null, path = [] } = place;
  const members = differing([base, ours, theirs]);
  const word = (value: unknown): string =>
    path.length === 0 && isWhole(kind) ? presence(value) : membersText(value, members);
  return {
    key: keyOfPlace(place),
    collection,
    field,
    path,
    base: word(base),
    theirs: word(ours),
    mine: word(theirs),
    ...(kind !== 'changed' && { why: message }),
  };
}

/** For these kinds the values are documents, otherwise names and members. */
const isWhole = (kind: ConflictKind): boolean => kind === 'removed' || kind === 'invalid' || kind === 'changed';

/** Members that are not equal in all; null for values that are not objects. */
function differing(values: readonly unknown[]): string[] | null {
  const objects = values.filter(isObject);
  if (objects.length < values.length) return null;
  const names = new Set(objects.flatMap((each) => Object.keys(each)));
  return [...names].filter((name) => !objects.every((each) => jsonEqual(each[name], objects[0]?.[name])));
}

const membersText = (value: unknown, members: readonly string[] | null): string =>
  members === null || !isObject(value)
    ? valueText(value)
    : members.map((name) => `${name} ${valueText(value[name])}`).join(', ');

const presence = (value: unknown): string =>
  value === undefined ? 'absent' : isObject(value) ? 'present' : valueText(value);

/** Combines earlier and new resolutions. */
export function decided(
  before: readonly Resolution[],
  conflicts: readonly MergeConflict[],
  choiceOf: (key: string) => 'mine' | 'theirs' | null,
): Resolution[] {
  const now = conflicts.flatMap(({ place }): Resolution[] => {
    const choice = choiceOf(keyOfPlace(place));
    return choice === null ? [] : [{ place, take: choice === 'mine' ? 'theirs' : 'ours' }];
  });
  const keys = new Set(now.map(({ place }) => keyOfPlace(place)));
  return [...before.filter(({ place }) => !keys.has(keyOfPlace(place))), ...now];
}
