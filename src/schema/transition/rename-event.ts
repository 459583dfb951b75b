/** The event of a rename: what the fold can't find by itself stands in it. */
import { jsonEqual } from '../../kernel/json.js';
import { type Names, type Renaming, withCollectionNames, withFieldNames } from '../fold/renaming.js';
import { patchBetween } from '../fold/patch.js';
import { type DocumentPatch, type NewEvent, newEvent } from '../model/events.js';
import { type CollectionNode, type State, byName } from '../model/state.js';
import { type Rewritten, withTexts } from './rename-texts.js';

/** The state by the new names, texts included. */
export function withNewNames(state: State, renaming: Renaming): Rewritten {
  return withTexts(state, byNewNames(state, renaming), renaming);
}

/** As the fold makes it of the name alone. */
const byNewNames = (state: State, renaming: Renaming): State =>
  'collections' in renaming
    ? withCollectionNames(state, renaming.collections)
    : withFieldNames(state, renaming.collection, renaming.fields);

export interface Rename {
  collection: string;
  /** null: the collection itself gets the name. */
  field: string | null;
  to: string;
}

/** The event that gives something another name, and the state after it. */
export function renameEvent(state: State, { collection, field, to }: Rename): { event: NewEvent; after: State } {
  const names: Names = new Map([[field ?? collection, to]]);
  const renaming: Renaming = field === null ? { collections: names } : { collection, fields: names };
  const named = byNewNames(state, renaming);
  const { state: after } = withTexts(state, named, renaming);
  const touches = changedNames(state, after).filter((name) => name !== collection && !(field === null && name === to));
  const patches = changedNames(named, after).flatMap((name) => patchesOf(named, after, name));
  const event = newEvent(field === null ? 'collection.renamed' : 'field.renamed', collection, field, {
    to,
    ...(touches.length > 0 && { touches }),
    ...(patches.length > 0 && { patches }),
  });
  return { event, after };
}

/** Of the collections that aren't the same value in both. */
function changedNames(before: State, after: State): string[] {
  const names: string[] = [];
  for (const [name, node] of after.collections) if (before.collections.get(name) !== node) names.push(name);
  return names.sort(byName);
}

function patchesOf(before: State, after: State, collection: string): DocumentPatch[] {
  const [old, now] = [before, after].map((state) => state.collections.get(collection)) as [
    CollectionNode,
    CollectionNode,
  ];
  const patches: DocumentPatch[] = [];
  const note = (of: Omit<DocumentPatch, 'patch'>, from: object, to: object): void => {
    if (from !== to && !jsonEqual(from, to)) patches.push({ ...of, patch: patchBetween(from, to) });
  };
  note({ collection }, old.collection, now.collection);
  for (const [field, value] of now.fields) note({ collection, field }, old.fields.get(field) ?? value, value);
  for (const [relation, value] of now.relations)
    note({ collection, relation }, old.relations.get(relation) ?? value, value);
  return patches;
}
