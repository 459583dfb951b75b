/* The inputs for the rows without a value, inside the form of a field that becomes required. */
import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useController, useWatch } from 'react-hook-form';
import { type Backfill, EXPRESSION_TYPES, TEXT_EXPRESSIONS, type TextExpression } from '../../schema/model/backfill.js';
import type { Json } from '../../kernel/json.js';
import { type ColumnSchema, type Field, TEXT_TYPES } from '../../schema/model/model.js';
import { memberKey } from '../draft/model.js';
import { headName, useDraft, useDraftedFields } from '../draft/store.js';
import { databaseTableQuery } from '../service/queries.js';
import { textOf, valueOf } from './column-defaults.js';

/** The state of the inputs. */
export interface BackfillInputs {
  /** `value`, `field`, or the name of an expression. Empty if no row is filled. */
  source: string;
  value: unknown;
  field: string;
}

/** The values of the form that the inputs depend on. */
type Values = Pick<Field, 'schema' | 'type'> & { backfill: BackfillInputs };

export function toInputs(backfill: Backfill | undefined): BackfillInputs {
  if (backfill === undefined) return { source: '', value: null, field: '' };
  if ('value' in backfill) return { source: 'value', value: backfill.value, field: '' };
  const field = 'field' in backfill ? backfill.field : '';
  return { source: 'expression' in backfill ? backfill.expression : 'field', value: null, field };
}

const needsField = (source: string): boolean => source === 'field' || isTextExpression(source);

const isTextExpression = (source: string): source is TextExpression =>
  (TEXT_EXPRESSIONS as readonly string[]).includes(source);

/** @param head the field at the head; null if it is not there */
export function fromInputs(values: Values, head: Field | null): Backfill | null {
  const { source, value, field } = values.backfill;
  if (source === '' || !becomesRequired(values.schema, head)) return null;
  if (source === 'value') return { value: value as Json };
  if (source === 'field') return { field };
  return isTextExpression(source) ? { expression: source, field } : { expression: source as 'now' | 'gen_random_uuid' };
}

/** Returns the errors by input. */
export function backfillFaults(values: Values, head: Field | null): Record<string, string> {
  if (!becomesRequired(values.schema, head)) return {};
  const { source, value, field } = values.backfill;
  if (source === 'value' && (value === null || value === '')) return { 'backfill.value': 'Enter a value.' };
  return needsField(source) && field === '' ? { 'backfill.field': 'Choose a field.' } : {};
}

/** True if rows may have no value, although the column needs one after the change. */
function becomesRequired(column: ColumnSchema | null, head: Field | null): boolean {
  if (column === null || column.is_nullable || column.has_auto_increment || column.generation_expression !== null)
    return false;
  return head === null || head.schema?.is_nullable === true;
}

/** Returns the field without the changes of the draft, and the backfill in the draft. */
export function useHeadField(document: Field, isNew: boolean): { head: Field | null; backfill: Backfill | undefined } {
  const { draft } = useDraft();
  const edit = isNew ? undefined : draft.fields.get(memberKey(document.collection, document.field));
  if (isNew || edit?.recreated === true) return { head: null, backfill: edit?.backfill };
  return { head: edit === undefined ? document : edit.before, backfill: edit?.backfill };
}

const EXPRESSIONS = [
  { value: 'now', label: 'the current time' },
  { value: 'gen_random_uuid', label: 'a new UUID in each row' },
] as const;

const TEXT_LABELS: Readonly<Record<TextExpression, string>> = {
  lower: 'another field in lower case',
  upper: 'another field in upper case',
  trim: 'another field without surrounding spaces',
};

interface Props {
  head: Field | null;
  collection: string;
}

/** Renders nothing if the table has no rows, or if each row has a value. */
export function BackfillInput({ head, collection }: Props) {
  const { draft } = useDraft();
  const column = useWatch({ name: 'schema' }) as ColumnSchema | null;
  const table = headName(draft, collection);
  const isNeeded = table !== null && becomesRequired(column, head);
  const { data } = useQuery({ ...databaseTableQuery(table ?? ''), enabled: isNeeded });
  if (!isNeeded || column === null || data?.rows === 0) return null;
  return <Inputs column={column} head={head} collection={collection} rows={data?.rows ?? null} />;
}

function Inputs({ column, head, collection, rows }: Props & { column: ColumnSchema; rows: number | null }) {
  const { field: source } = useController({ name: 'backfill.source' });
  const name = useWatch({ name: 'field' }) as string;
  const type = useWatch({ name: 'type' }) as string;
  const fields = useSources(collection, name);
  const isText = TEXT_TYPES.has(column.data_type);
  const fitting = fields.filter(({ schema }) =>
    isText ? TEXT_TYPES.has(schema?.data_type ?? '') : schema?.data_type === column.data_type,
  );
  const ofFields = [
    { value: 'field', label: 'another field' },
    ...(isText ? TEXT_EXPRESSIONS.map((each) => ({ value: each, label: TEXT_LABELS[each] })) : []),
  ];
  const options = [
    { value: '', label: 'nothing (the change fails if there are any)' },
    ...(type.startsWith('geometry') ? [] : [{ value: 'value', label: 'a value' }]),
    ...(fitting.length === 0 ? [] : ofFields),
    ...EXPRESSIONS.filter(({ value }) => EXPRESSION_TYPES[value].has(column.data_type)),
  ];
  const count = rows === null ? '' : `The table has about ${rows.toLocaleString('en')} rows. `;
  const which = head === null ? 'All existing rows get it.' : 'Only rows without a value get it.';
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <NativeSelect
        label={head === null ? 'Fill existing rows with' : 'Fill rows without a value with'}
        description={`${count}${which}`}
        data={options}
        value={options.some(({ value }) => value === source.value) ? (source.value as string) : ''}
        onChange={({ currentTarget }) => source.onChange(currentTarget.value)}
      />
      {source.value === 'value' && <ValueInput type={type} />}
      {needsField(source.value as string) && <FieldInput names={fitting.map(({ field }) => field)} />}
    </SimpleGrid>
  );
}

/** Returns the fields at the head that store values of their own. */
function useSources(collection: string, name: string): Field[] {
  const { data = [] } = useDraftedFields(collection);
  return data.flatMap(({ document, before, mark }) => {
    const { schema } = document;
    const isStored = schema !== null && schema.generation_expression === null;
    return before === null || mark === 'removed' || !isStored || document.field === name ? [] : [document];
  });
}

function ValueInput({ type }: { type: string }) {
  const { field, fieldState } = useController({ name: 'backfill.value' });
  const common = { label: 'Value', error: fieldState.error?.message, onBlur: field.onBlur, ref: field.ref };
  const text = textOf(field.value);
  if (type === 'boolean')
    return (
      <NativeSelect
        {...common}
        data={[{ value: '', label: 'choose' }, 'true', 'false']}
        value={text}
        onChange={({ currentTarget: { value } }) => field.onChange(value === '' ? null : value === 'true')}
      />
    );
  return (
    <TextInput
      {...common}
      autoComplete="off"
      value={text}
      onChange={({ currentTarget }) => field.onChange(valueOf(currentTarget.value, type))}
    />
  );
}

function FieldInput({ names }: { names: readonly string[] }) {
  const { field, fieldState } = useController({ name: 'backfill.field' });
  return (
    <NativeSelect
      label="Field with the values"
      data={[{ value: '', label: 'choose' }, ...names]}
      error={fieldState.error?.message}
      onBlur={field.onBlur}
      ref={field.ref}
      value={field.value as string}
      onChange={({ currentTarget }) => field.onChange(currentTarget.value)}
    />
  );
}
