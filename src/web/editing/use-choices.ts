import { useDraftedCollections, useDraftedFields } from '../draft/use-drafted.js';
import type { Choices } from './input-props.js';

/** @param collection null for one that does not exist yet */
export function useChoices(collection: string | null): Choices {
  const { data: fields = [] } = useDraftedFields(collection);
  const { data: collections = [] } = useDraftedCollections();
  const there = fields.filter(({ how }) => how !== 'removed').map(({ document }) => document);
  return {
    fields: there.filter(({ schema }) => schema !== null).map(({ field }) => field),
    aliases: there.filter(({ schema }) => schema === null).map(({ field }) => field),
    collections: collections
      .filter(({ how, document }) => how !== 'removed' && document.collection !== collection)
      .map(({ document }) => document.collection)
      .sort(),
  };
}
