/** The form of a new or existing field: its type and column, its display, and its rules. */
import { Accordion, TextInput, NativeSelect, SimpleGrid, Stack, Text, Autocomplete } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type FieldValues, useForm, useFormContext, useWatch, useController } from 'react-hook-form';
import type { Json } from '../../kernel/json.js';
import { type Backfill, EXPRESSION_TYPES, TEXT_EXPRESSIONS, type TextExpression } from '../../schema/model/backfill.js';
import { type Field, type ColumnSchema, fieldMeta, TEXT_TYPES } from '../../schema/model/model.js';
import { checksOf } from '../../schema/normal-form/checks.js';
import { ALIAS_TYPE, UNKNOWN_TYPE, dataTypesOf } from '../../schema/normal-form/types/field-types.js';
import { setBackfill } from '../draft/edits.js';
import { memberKey } from '../draft/model.js';
import { headName, useDraft, useDraftedFields } from '../draft/store.js';
import { databaseTableQuery } from '../service/queries.js';
import { LoadingIndicator } from '../shared/problem-alert.js';
import { columnText } from '../shared/text.js';
import {
  settledFlags,
  canCountUp,
  columnOfType,
  interfaceOf,
  newColumn,
  specialOf,
  textOf,
  valueOf,
} from './column-defaults.js';
import {
  type ColumnType,
  EnumPart,
  type EnumValue,
  enumFaults,
  enumValues,
  fieldTypeOptions,
  putEnumValues,
  typeOfOption,
  typeOption,
  useColumnType,
  useManagedTypes,
  useTypeUsers,
} from './column-types.js';
import { EditorForm } from './editor-frame.js';
import { messages } from './messages.js';
import classes from './editor-frame.module.css';
import { type Choices, MemberInput, useChoices } from './member-input.js';
import { FIELD_SECTIONS, COLUMN_FLAGS, COLUMN_TEXTS, COLUMN_TYPE, memberAt } from './members.js';
import { Sections } from './sections.js';
import { createResolver, type Edit, useKeep } from './use-keep.js';
import { locale } from '../shared/language.js';

const words = messages.field;
const backfillWords = messages.backfill;

const CALLS: Readonly<Record<string, string[]>> = {
  uuid: ['gen_random_uuid()'],
  date: ['CURRENT_DATE', 'now()'],
  time: ['CURRENT_TIME'],
  dateTime: ['now()', 'CURRENT_TIMESTAMP'],
  timestamp: ['now()', 'CURRENT_TIMESTAMP'],
};

/**
 * The input of the default value, inside the form of a field with a column. Empty means no default. Disabled if the
 * values are generated.
 * @param props.values the values of an enum
 */
function DefaultInput({ values }: { values: readonly string[] }) {
  const type = useWatch({ name: 'type' }) as string;
  const column = useWatch({ name: 'schema' }) as ColumnSchema | null;
  const { field, fieldState } = useController({ name: 'schema.default_value' });
  const value: unknown = field.value;
  const isMade = column !== null && (column.has_auto_increment || column.generation_expression !== null);
  const common = {
    label: words.default,
    error: fieldState.error?.message,
    disabled: isMade,
    onBlur: field.onBlur,
    ref: field.ref,
  };
  if (type === 'boolean') {
    return (
      <NativeSelect
        {...common}
        data={[{ value: '', label: words.none }, 'true', 'false']}
        value={textOf(value)}
        onChange={({ currentTarget: { value: next } }) => field.onChange(next === '' ? null : next === 'true')}
      />
    );
  }
  return (
    <Autocomplete
      {...common}
      placeholder={isMade ? words.generated : words.none}
      data={values.length > 0 ? [...values] : (CALLS[type] ?? [])}
      comboboxProps={{ withinPortal: false }}
      value={textOf(value)}
      onChange={(text) => field.onChange(valueOf(text, type))}
    />
  );
}

const LENGTH = memberAt('schema.max_length', COLUMN_TYPE);
const PRECISION = memberAt('schema.numeric_precision', COLUMN_TYPE);
const SCALE = memberAt('schema.numeric_scale', COLUMN_TYPE);
const OTHER_TYPE = memberAt('schema.data_type', COLUMN_TYPE);

interface ColumnPartProps {
  /** Null for a new field. */
  before: Field | null;
  /** The field at the head. Null if it is not there. */
  head: Field | null;
  collection: string;
  columnType: ColumnType | null;
  choices: Choices;
}

/**
 * The inputs of the type and the column, inside the form of a field. A new type resets the members that depend on it.
 * Returning to the first type restores them.
 * @param props.before null for a new field, whose interface changes with the type
 */
function ColumnPart(props: ColumnPartProps) {
  const { before, choices } = props;
  const { setValue, getValues } = useFormContext();
  const type = useWatch({ name: 'type' }) as string;
  const schema = useWatch({ name: 'schema' }) as ColumnSchema | null;
  const managed = useManagedTypes() ?? [];
  const value = typeOption({ type, schema }, managed);
  const change = (option: string) => {
    const { schema: column } = getValues() as Field;
    const { type: next, dataType } = typeOfOption(option);
    setValue('type', next, { shouldDirty: true });
    const isBack = before !== null && option === typeOption(before, managed);
    const made =
      column === null
        ? newColumn(next, { data_type: dataType })
        : next === ALIAS_TYPE
          ? null
          : columnOfType(column, dataType);
    setValue('schema', isBack ? before.schema : made);
    if (before !== null) return;
    setValue('meta.interface', next === ALIAS_TYPE ? 'presentation-divider' : interfaceOf(next));
    setValue('meta.special', next === ALIAS_TYPE ? ['alias', 'no-data'] : specialOf(next));
  };
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NativeSelect
          label={words.type}
          data={fieldTypeOptions(before, managed)}
          value={value}
          onChange={(event) => change(event.currentTarget.value)}
        />
        {schema !== null && <Variant type={type} column={schema} />}
        {schema !== null && 'max_length' in schema && hasLength(schema) && (
          <MemberInput member={LENGTH} choices={choices} />
        )}
        {schema?.data_type === 'numeric' && (
          <>
            <MemberInput member={PRECISION} choices={choices} />
            <MemberInput member={SCALE} choices={choices} />
          </>
        )}
      </SimpleGrid>
      {value === UNKNOWN_TYPE && <MemberInput member={OTHER_TYPE} choices={choices} />}
      {schema === null ? (
        <Text size="sm" c="dimmed">
          {words.withoutColumn}
        </Text>
      ) : (
        <ColumnMembers {...props} column={schema} />
      )}
    </Stack>
  );
}

const hasLength = ({ data_type: type }: ColumnSchema): boolean => type === 'character varying' || type === 'character';

/** The input of the column type, for types with several column types. */
function Variant({ type, column }: { type: string; column: ColumnSchema }) {
  const { setValue } = useFormContext();
  const variants = dataTypesOf(type) ?? [];
  if (variants.length < 2) return null;
  return (
    <NativeSelect
      label={words.columnType}
      data={[...variants]}
      value={column.data_type}
      onChange={(event) => setValue('schema', columnOfType(column, event.currentTarget.value))}
    />
  );
}

function ColumnMembers(props: ColumnPartProps & { column: ColumnSchema }) {
  const { column, before, head, collection, columnType, choices } = props;
  const { getValues } = useFormContext();
  const flags = COLUMN_FLAGS.filter(
    ({ path }) => path !== 'schema.has_auto_increment' || canCountUp(column.data_type) || column.has_auto_increment,
  );
  const name = (getValues() as Field).field;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {flags.map((member) => (
          <MemberInput key={member.path} member={member} choices={choices} />
        ))}
      </SimpleGrid>
      {columnType?.kind === 'enum' && <EnumPart type={columnType} />}
      <BackfillInput head={head} collection={collection} />
      <DefaultInput values={columnType?.headLabels ?? []} />
      {COLUMN_TEXTS.map((member) => (
        <MemberInput key={member.path} member={member} choices={choices} />
      ))}
      <div>
        <Text size="sm" fw={500} mb={4}>
          {words.columnDefinition}
        </Text>
        <div className={classes.made} data-testid="made">
          {before?.schema && columnText(before.field, before.schema) !== columnText(name, column) && (
            <Text c="dimmed" td="line-through" ff="monospace" size="sm">
              {columnText(before.field, before.schema)}
            </Text>
          )}
          {columnText(name, column)}
        </div>
      </div>
    </>
  );
}

type FormValues = Field & { backfill: BackfillInputs; values: EnumValue[] };

interface Props {
  document: Field;
  isNew: boolean;
  /** Names that are already in use. */
  taken: readonly string[];
  onDone: (field: string) => void;
  onCancel: () => void;
}

/**
 * @param props.document the field. For a new field, its default values without a name
 * @param props.onDone called with the name of the field when the edit is in the draft
 */
export function FieldForm(props: Props) {
  const columnType = useColumnType(props.document);
  if (columnType === undefined) return <LoadingIndicator label={messages.host.loading} height="60px" />;
  return <LoadedForm {...props} columnType={columnType} />;
}

function LoadedForm({
  document,
  isNew,
  taken,
  columnType,
  onDone,
  onCancel,
}: Props & Pick<ColumnPartProps, 'columnType'>) {
  const { collection } = document;
  const { head, backfill } = useHeadField(document, isNew);
  const users = useTypeUsers(columnType);
  const form = useForm<FieldValues>({
    defaultValues: {
      ...structuredClone(document),
      backfill: toInputs(backfill),
      values: columnType === null ? [] : enumValues(columnType),
    },
    resolver: createResolver({ meta: checksOf(fieldMeta) }, (values) => ({
      ...(isNew ? nameFault(String(values['field']), taken) : {}),
      ...backfillFaults(values as unknown as FormValues, head),
      ...enumFaults((values as unknown as FormValues).values),
    })),
  });
  const keeping = useKeep({ names: [collection], form });
  const choices = useChoices(collection);
  const [open, setOpen] = useState<string[]>(['Column']);
  const edit: Edit = (editor) => {
    const { backfill: inputs, values: enumInputs, ...values } = form.getValues() as FormValues;
    const now = isNew ? values : (editor.field(collection, document.field) ?? values);
    editor.put('fields', {
      ...now,
      type: values.type,
      meta: values.meta,
      schema: values.schema && settledFlags({ ...values.schema, comment: values.schema.comment || null }),
    });
    const key = memberKey(collection, isNew ? values.field : document.field);
    editor.change((draft) => setBackfill(draft, key, fromInputs({ ...values, backfill: inputs }, head)));
    putEnumValues(editor, { type: columnType, users: users ?? [], values: enumInputs });
  };
  const keep = async (unchecked: boolean) => {
    if (await keeping.keep(edit, { unchecked })) onDone((form.getValues() as Field).field);
  };
  const { error } = form.getFieldState('field', form.formState);
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onCancel} isReady={users !== undefined}>
      {isNew && (
        <TextInput
          label={words.name}
          description={words.nameHelp}
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          error={error?.message}
          {...form.register('field')}
        />
      )}
      <Sections sections={FIELD_SECTIONS} choices={choices} open={open} onOpen={setOpen}>
        <Accordion.Item value="Column">
          <Accordion.Control>{words.typeAndColumn}</Accordion.Control>
          <Accordion.Panel>
            <ColumnPart
              before={isNew ? null : document}
              head={head}
              collection={collection}
              columnType={columnType}
              choices={choices}
            />
          </Accordion.Panel>
        </Accordion.Item>
      </Sections>
    </EditorForm>
  );
}

/**
 * Returns the error of a name.
 * @param member the input that shows the error
 * @returns an empty object if the name is set and free
 */
export function nameFault(name: string, taken: readonly string[], member = 'field'): Record<string, string> {
  if (name.trim() === '') return { [member]: messages.common.enterName };
  return taken.includes(name) ? { [member]: messages.common.fieldExists(name) } : {};
}

/* The inputs for the rows without a value, inside the form of a field that becomes required. */

/** The state of the inputs. */
interface BackfillInputs {
  /** `value`, `field`, or the name of an expression. Empty if no row is filled. */
  source: string;
  value: unknown;
  field: string;
}

/** The values of the form that the inputs depend on. */
type Values = Pick<Field, 'schema' | 'type'> & { backfill: BackfillInputs };

function toInputs(backfill: Backfill | undefined): BackfillInputs {
  if (backfill === undefined) return { source: '', value: null, field: '' };
  if ('value' in backfill) return { source: 'value', value: backfill.value, field: '' };
  const field = 'field' in backfill ? backfill.field : '';
  return { source: 'expression' in backfill ? backfill.expression : 'field', value: null, field };
}

const needsField = (source: string): boolean => source === 'field' || isTextExpression(source);

const isTextExpression = (source: string): source is TextExpression =>
  (TEXT_EXPRESSIONS as readonly string[]).includes(source);

/** @param head the field at the head; null if it is not there */
function fromInputs(values: Values, head: Field | null): Backfill | null {
  const { source, value, field } = values.backfill;
  if (source === '' || !becomesRequired(values.schema, head)) return null;
  if (source === 'value') return { value: value as Json };
  if (source === 'field') return { field };
  return isTextExpression(source) ? { expression: source, field } : { expression: source as 'now' | 'gen_random_uuid' };
}

/** Returns the errors by input. */
function backfillFaults(values: Values, head: Field | null): Record<string, string> {
  if (!becomesRequired(values.schema, head)) return {};
  const { source, value, field } = values.backfill;
  if (source === 'value' && (value === null || value === '')) return { 'backfill.value': backfillWords.enterValue };
  return needsField(source) && field === '' ? { 'backfill.field': backfillWords.chooseField } : {};
}

/** True if rows may have no value, although the column needs one after the change. */
function becomesRequired(column: ColumnSchema | null, head: Field | null): boolean {
  if (column === null || column.is_nullable || column.has_auto_increment || column.generation_expression !== null)
    return false;
  return head === null || head.schema?.is_nullable === true;
}

/** Returns the field without the changes of the draft, and the backfill in the draft. */
function useHeadField(document: Field, isNew: boolean): { head: Field | null; backfill: Backfill | undefined } {
  const { draft } = useDraft();
  const edit = isNew ? undefined : draft.fields.get(memberKey(document.collection, document.field));
  if (isNew || edit?.recreated === true) return { head: null, backfill: edit?.backfill };
  return { head: edit === undefined ? document : edit.before, backfill: edit?.backfill };
}

const EXPRESSIONS = [
  { value: 'now', label: backfillWords.now },
  { value: 'gen_random_uuid', label: backfillWords.uuid },
] as const;

interface BackfillInputProps {
  head: Field | null;
  collection: string;
}

/** Renders nothing if the table has no rows, or if each row has a value. */
function BackfillInput({ head, collection }: BackfillInputProps) {
  const { draft } = useDraft();
  const column = useWatch({ name: 'schema' }) as ColumnSchema | null;
  const table = headName(draft, collection);
  const isNeeded = table !== null && becomesRequired(column, head);
  const { data } = useQuery({ ...databaseTableQuery(table ?? ''), enabled: isNeeded });
  if (!isNeeded || column === null || data?.rows === 0) return null;
  return <Inputs column={column} head={head} collection={collection} rows={data?.rows ?? null} />;
}

function Inputs({
  column,
  head,
  collection,
  rows,
}: BackfillInputProps & { column: ColumnSchema; rows: number | null }) {
  const { field: source } = useController({ name: 'backfill.source' });
  const name = useWatch({ name: 'field' }) as string;
  const type = useWatch({ name: 'type' }) as string;
  const fields = useSources(collection, name);
  const isText = TEXT_TYPES.has(column.data_type);
  const fitting = fields.filter(({ schema }) =>
    isText ? TEXT_TYPES.has(schema?.data_type ?? '') : schema?.data_type === column.data_type,
  );
  const ofFields = [
    { value: 'field', label: backfillWords.field },
    ...(isText ? TEXT_EXPRESSIONS.map((each) => ({ value: each, label: backfillWords.expressions[each] })) : []),
  ];
  const options = [
    { value: '', label: backfillWords.nothing },
    ...(type.startsWith('geometry') ? [] : [{ value: 'value', label: backfillWords.valueOption }]),
    ...(fitting.length === 0 ? [] : ofFields),
    ...EXPRESSIONS.filter(({ value }) => EXPRESSION_TYPES[value].has(column.data_type)),
  ];
  const count = rows === null ? '' : `${backfillWords.rowCount(rows.toLocaleString(locale))} `;
  const which = head === null ? backfillWords.allRows : backfillWords.rowsWithout;
  return (
    <Stack gap="md">
      <NativeSelect
        label={head === null ? backfillWords.fillAll : backfillWords.fillWithout}
        description={`${count}${which}`}
        data={options}
        value={options.some(({ value }) => value === source.value) ? (source.value as string) : ''}
        onChange={({ currentTarget }) => source.onChange(currentTarget.value)}
      />
      {source.value === 'value' && <ValueInput type={type} />}
      {needsField(source.value as string) && <FieldInput names={fitting.map(({ field }) => field)} />}
    </Stack>
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
  const common = { label: backfillWords.value, error: fieldState.error?.message, onBlur: field.onBlur, ref: field.ref };
  const text = textOf(field.value);
  if (type === 'boolean')
    return (
      <NativeSelect
        {...common}
        data={[{ value: '', label: words.choose }, 'true', 'false']}
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
      label={backfillWords.fieldWithValues}
      data={[{ value: '', label: words.choose }, ...names]}
      error={fieldState.error?.message}
      onBlur={field.onBlur}
      ref={field.ref}
      value={field.value as string}
      onChange={({ currentTarget }) => field.onChange(currentTarget.value)}
    />
  );
}
