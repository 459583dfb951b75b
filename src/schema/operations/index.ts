/** The registry: every way to change the schema. */
import { applyDiff } from './apply-diff.js';
import { createCollection } from './create-collection.js';
import { deleteCollection } from './delete-collection.js';
import type { Operation } from './operation.js';
import { updateCollection } from './update-collection.js';

export const operations = {
  'create-collection': createCollection,
  'update-collection': updateCollection,
  'delete-collection': deleteCollection,
  'apply-diff': applyDiff,
} as const;

export type OperationName = keyof typeof operations;

export type InputOf<N extends OperationName> = (typeof operations)[N] extends Operation<string, infer I, infer _> ? I : never;

export type CommandOf<N extends OperationName> = (typeof operations)[N] extends Operation<string, infer _, infer C> ? C : never;
