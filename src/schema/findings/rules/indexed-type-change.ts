import type { ColumnField } from '../../model/state.js';
import { columnType } from '../../sql-text/data-types.js';
import type { Rule } from '../model.js';
import { columnsOf, isOldTable, labelOf, sized } from './common.js';

export const indexedTypeChange: Rule = {
  code: 'INDEXED_TYPE_CHANGE',
  level: 'warn',
  title: 'Type change of an indexed field',
  what: 'The type of a field changes that is indexed, unique or a primary key.',
  why: 'PostgreSQL rebuilds its indexes in the same transaction. Columns that reference a key must change with it.',
  safer: 'Add a field of the new type, index it concurrently, and migrate to it.',
  levels: 'Depends on the size of the table.',
  aliases: { squawk: ['changing-column-type'], strong_migrations: ['change_column'], atlas: ['PG301'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    const [from, to] = [columnType(old.schema), columnType(now.schema)];
    // PostgreSQL keeps the index if a text type only becomes longer.
    if (from === to || !isInIndex(old) || isRoomier(old, now)) return undefined;
    const message = `alter column ${labelOf(now)}: from ${from} to ${to} PostgreSQL rebuilds its indexes`;
    return { message, field: now.field, ...sized(planned, now.collection) };
  },
};

const isInIndex = ({ schema }: ColumnField): boolean => schema.is_indexed || schema.is_unique || schema.is_primary_key;

const isRoomier = ({ schema: old }: ColumnField, { schema: now }: ColumnField): boolean =>
  old.data_type === 'character varying' &&
  (now.data_type === 'text' || now.data_type === old.data_type) &&
  (now.max_length ?? Infinity) >= (old.max_length ?? Infinity);
