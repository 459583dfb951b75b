import { z } from 'zod';
import type { CollectionMeta } from '../model/model.js';
import {
  checkOf,
  flag,
  nullableList,
  nullableName,
  nullableSort,
  nullableText,
  oneOf,
  translations,
  checkTable,
} from './checks.js';

/** The metadata of a collection without explicit values. */
export const COLLECTION_META_DEFAULTS: Readonly<CollectionMeta> = Object.freeze<CollectionMeta>({
  icon: null,
  note: null,
  display_template: null,
  hidden: false,
  singleton: false,
  translations: null,
  archive_field: null,
  archive_app_filter: true,
  archive_value: null,
  unarchive_value: null,
  sort_field: null,
  accountability: 'all',
  color: null,
  item_duplication_fields: null,
  sort: null,
  group: null,
  collapse: 'open',
  preview_url: null,
  versioning: false,
});

const textOrFlag = checkOf<boolean>(
  z.union([flag.shape, z.enum(['true', 'false'])]),
  'must be true or false (or the strings "true", "false")',
  { normal: (value) => value === true || value === 'true' },
);

export const COLLECTION_META_TABLE = checkTable<CollectionMeta>({
  icon: nullableText,
  note: nullableText,
  display_template: nullableText,
  hidden: flag,
  singleton: flag,
  translations,
  archive_field: nullableName,
  archive_app_filter: textOrFlag,
  archive_value: nullableText,
  unarchive_value: nullableText,
  sort_field: nullableName,
  accountability: oneOf(['all', 'activity', null]),
  color: nullableText,
  item_duplication_fields: nullableList,
  sort: nullableSort,
  group: nullableName,
  collapse: oneOf(['open', 'closed', 'locked']),
  preview_url: nullableText,
  versioning: flag,
});
