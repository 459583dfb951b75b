/** Converts all documents from outside to normal form. */
export { defaultFromCatalog } from './defaults/catalog-default.js';
export { MAX_SORT } from '../model/model.js';
export { mergeCollection, readNewCollection } from './collection.js';
export { columnType } from '../sql-text/data-types.js';
export { isFunctionDefault } from './defaults/default-value.js';
export { typeFromColumn } from './types/field-types.js';
export { withNamedType } from './types/column-type.js';
export { defaultPrimaryKey, mergeField, readNewField } from './field.js';
export { checkJson } from './json.js';
export { checkName } from './names.js';
export type { FieldReadOptions } from './options.js';
export { mergeRelation, readNewRelation, relationEnds, relationSteps } from './relation.js';
