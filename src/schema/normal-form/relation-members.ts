import { z } from 'zod';
import type { NewRelation } from '../model/model.js';
import { checkOf, nullableName, oneOf, checkTable } from './checks.js';

const collectionNames = checkOf<string[] | null>(
  z
    .array(z.string().min(1))
    .refine((names) => new Set(names).size === names.length)
    .meta({ uniqueItems: true })
    .nullable(),
  'must be an array of distinct collection names, or null',
);

/** The members that can change. The two that identify a relation, and the foreign key, are read separately. */
export type Ends = Omit<NewRelation, 'many_collection' | 'many_field' | 'schema'>;

export const ENDS = checkTable<Ends>({
  one_collection: nullableName,
  one_field: nullableName,
  one_collection_field: nullableName,
  one_allowed_collections: collectionNames,
  junction_field: nullableName,
  sort_field: nullableName,
  one_deselect_action: oneOf(['nullify', 'delete']),
});

export const END_DEFAULTS: Ends = {
  one_collection: null,
  one_field: null,
  one_collection_field: null,
  one_allowed_collections: null,
  junction_field: null,
  sort_field: null,
  one_deselect_action: 'nullify',
};
