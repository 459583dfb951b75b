import type { ColumnField } from '../../model/state.js';
import { columnType } from '../../sql-text/data-types.js';
import type { Rule } from '../model.js';
import { columnsOf, isOldTable, labelOf, sized } from './common.js';

export const indexedTypeChange: Rule = {
  code: 'INDEXED_TYPE_CHANGE',
  level: 'warn',
  title: 'Type of an indexed field',
  what: 'A field that has an index, is unique, or is a primary key gets another type.',
  why: 'Its indexes are built again in the same transaction, and what points at a key has to change with it.',
  safer: 'Add a field of the new type, index it concurrently, and move over to it.',
  levels: 'By the size of the table.',
  aliases: { squawk: ['changing-column-type'], strong_migrations: ['change_column'], atlas: ['PG301'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    const [from, to] = [columnType(old.schema), columnType(now.schema)];
    // PostgreSQL keeps the index if a text type only becomes longer.
    if (from === to || !isInIndex(old) || isRoomier(old, now)) return undefined;
    const message = `alter column ${labelOf(now)}: from ${from} to ${to} its indexes are built again`;
    return { message, field: now.field, ...sized(planned, now.collection) };
  },
};

const isInIndex = ({ schema }: ColumnField): boolean => schema.is_indexed || schema.is_unique || schema.is_primary_key;

const isRoomier = ({ schema: old }: ColumnField, { schema: now }: ColumnField): boolean =>
  old.data_type === 'character varying' &&
  (now.data_type === 'text' || now.data_type === old.data_type) &&
  (now.max_length ?? Infinity) >= (old.max_length ?? Infinity);
