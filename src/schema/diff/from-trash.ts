/** Gives objects that a diff restores from the trash their former identity in the draft. */
import { type Problem, renderPath } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Identity, type State, memberKey } from '../model/state.js';
import type { ComingAgain } from '../transition/coming-again.js';
import type { Draft } from '../transition/draft.js';
import { fitting } from '../transition/fitting-trash.js';
import type { InTrash } from '../transition/restoring-transition.js';
import type { CollectionDiff, FieldDiff, SchemaDiff } from './diff.js';
import { originsIn } from './origins.js';

/** Returns what the diff restores from the trash, and sets the identities in the draft. */
export function* identifyFromTrash(
  state: State,
  draft: Draft,
  { diff, kept }: { diff: SchemaDiff; kept: readonly InTrash[] },
): Resumable<InTrash[]> {
  if (kept.length === 0) return [];
  const again = originsIn(diff);
  yield* identifyTables(draft, diff, { again, kept });
  yield* identifyFields(draft, diff, { again, kept });
  const to = yield* draft.toState();
  return yield* fitting({ from: state, to, touched: draft.touched }, kept);
}

interface Known {
  again: ComingAgain;
  kept: readonly InTrash[];
}

function* identifyTables(draft: Draft, { collections }: SchemaDiff, { again, kept }: Known): Resumable<void> {
  const tables = new Set(kept.flatMap(({ kind, identity }) => (kind === 'collection' ? [identity] : [])));
  for (const { collection } of collections) {
    yield;
    const identity = again.get(collection) ?? '';
    if (tables.has(identity) && draft.get(collection) !== undefined) draft.identify(collection, new Map(), identity);
  }
}

function* identifyFields(draft: Draft, { fields: items }: SchemaDiff, { again, kept }: Known): Resumable<void> {
  const tableOf = new Map(kept.flatMap(identitiesIn));
  for (const { collection, field } of items) {
    yield;
    const identity = again.get(memberKey(collection, field)) ?? '';
    const node = draft.get(collection);
    if (node?.fields.has(field) !== true || tableOf.get(identity) !== node.identities.collection) continue;
    draft.identify(collection, new Map([[field, identity]]));
  }
}

/** The fields that are restored with it, by their collection. */
const identitiesIn = ({ kind, identity, node: { identities } }: InTrash): [Identity, Identity][] =>
  kind === 'field'
    ? [[identity, identities.collection]]
    : [...identities.fields.values()].map((field) => [field, identities.collection]);

/** An object that the diff restores from the trash is never created empty. */
export function lostSince({ collections, fields }: SchemaDiff, found: readonly InTrash[]): Problem[] {
  const kept = found.filter(({ empty }) => empty !== true);
  const positions = new Map<Identity | undefined, number>(kept.map(({ identity, position }) => [identity, position]));
  const check = (part: 'collections' | 'fields') => (item: CollectionDiff | FieldDiff, index: number) => {
    const { identity, restores } = item;
    if (restores === undefined || positions.get(identity) === restores) return [];
    const message = `nothing of position ${restores} that fits is in the trash any more; make a new diff and apply that`;
    const path = renderPath(['diff', part, index, 'restores']);
    return [{ code: 'SCHEMA_CHANGED' as const, message, path }];
  };
  return [...collections.flatMap(check('collections')), ...fields.flatMap(check('fields'))];
}
