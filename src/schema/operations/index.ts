/** The registry of all operations that change the schema. */
import type { LogEvent } from '../model/events.js';
import { acceptDrift } from './accept-drift.js';
import { adoptTables } from './adopt-tables.js';
import { applyDiff } from './apply-diff.js';
import {
  createCollections,
  updateCollections,
  createCollection,
  deleteCollection,
  updateCollection,
} from './collections.js';
import { createField, deleteField, updateFields } from './fields.js';
import { createObject, deleteObject, renameObject, updateObject } from './objects.js';
import type { Operation } from './operation.js';
import { purgeTrash, restoreCollection, restoreField } from './trash.js';
import { renameCollection, renameField } from './rename.js';
import { createRelation, deleteRelation, updateRelation } from './relations.js';
import { updatePolicy } from './update-policy.js';

export const operations = {
  'create-collection': createCollection,
  'update-collection': updateCollection,
  'rename-collection': renameCollection,
  'delete-collection': deleteCollection,
  'create-collections': createCollections,
  'update-collections': updateCollections,
  'create-field': createField,
  'update-fields': updateFields,
  'rename-field': renameField,
  'delete-field': deleteField,
  'create-relation': createRelation,
  'update-relation': updateRelation,
  'delete-relation': deleteRelation,
  'create-object': createObject,
  'update-object': updateObject,
  'rename-object': renameObject,
  'delete-object': deleteObject,
  'purge-trash': purgeTrash,
  'restore-collection': restoreCollection,
  'restore-field': restoreField,
  'apply-diff': applyDiff,
  'adopt-tables': adoptTables,
  'accept-drift': acceptDrift,
  'update-policy': updatePolicy,
} as const;

export type OperationName = keyof typeof operations;

export type InputOf<N extends OperationName> =
  (typeof operations)[N] extends Operation<string, infer I, infer _, LogEvent> ? I : never;

export type CommandOf<N extends OperationName> =
  (typeof operations)[N] extends Operation<string, infer _, infer C, LogEvent> ? C : never;
