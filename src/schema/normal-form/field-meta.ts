import { z } from 'zod';
import { FIELD_WIDTHS, type FieldMeta } from '../model/model.js';
import {
  checkOf,
  flag,
  nullableName,
  nullableObject,
  nullableSort,
  nullableStrings,
  nullableStructure,
  nullableText,
  oneOf,
  translations,
  checkTable,
} from './checks.js';

/** The metadata of a field without explicit values. */
export const FIELD_META_DEFAULTS: Readonly<FieldMeta> = Object.freeze<FieldMeta>({
  special: null,
  interface: null,
  options: null,
  display: null,
  display_options: null,
  readonly: false,
  hidden: false,
  sort: null,
  width: 'full',
  translations: null,
  note: null,
  conditions: null,
  group: null,
  required: false,
  validation: null,
  validation_message: null,
});

const nullableWidth = checkOf<FieldMeta['width']>(z.enum(FIELD_WIDTHS).nullable(), oneOf(FIELD_WIDTHS).message, {
  normal: (value) => (value === null ? 'full' : (value as FieldMeta['width'])),
});

export const FIELD_META_TABLE = checkTable<FieldMeta>({
  special: nullableStrings,
  interface: nullableText,
  options: nullableObject,
  display: nullableText,
  display_options: nullableObject,
  readonly: flag,
  hidden: flag,
  sort: nullableSort,
  width: nullableWidth,
  translations,
  note: nullableText,
  conditions: nullableStructure,
  group: nullableName,
  required: flag,
  validation: nullableStructure,
  validation_message: nullableText,
});
