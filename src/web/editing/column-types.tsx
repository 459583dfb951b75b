/** The enums and domains that columns have as their type, and the input of the values of an enum. */
import { Switch, Text } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useController } from 'react-hook-form';
import type { Need, TableExtras } from '../../schema/model/extras.js';
import type { Field } from '../../schema/model/model.js';
import type { SchemaObject } from '../../schema/model/object-document.js';
import { quoteUnlessPlain, splitQualifiedId } from '../../schema/model/object-ids.js';
import { ALIAS_TYPE, FIELD_TYPES, UNKNOWN_TYPE, dataTypesOf } from '../../schema/normal-form/types/field-types.js';
import { type DraftEditor, draftedExtras } from '../draft/editor.js';
import { headName, useDraft, useDraftedCollections, useDraftedObjects } from '../draft/store.js';
import { extrasOfQuery, extrasQuery, fieldNamesQuery, fieldsQuery } from '../service/queries.js';
import { useMay } from '../service/session.js';
import { RowsInput } from './inputs.js';
import { typeOptions } from './members.js';
import { messages } from './messages.js';

const words = messages.enum;

type TypeNeed = Extract<Need, { kind: 'enum' | 'domain' }>;

/** The enum or the domain of a column. */
export interface ColumnType {
  kind: TypeNeed['kind'];
  name: string;
  /** The values of an enum, with the draft applied. Empty for a domain. */
  labels: readonly string[];
  /** The values in the database. */
  headLabels: readonly string[];
  /** The definition in one line. */
  text: string;
  /** The definition in `extras.needs`. Null if the type is an object of its own. */
  need: TypeNeed | null;
}

/**
 * Returns the enum or the domain of a column that has no type of the service. Null if it has none, or if the user may
 * not read it. Undefined while it is loading.
 */
export function useColumnType({ collection, type, schema }: Field): ColumnType | null | undefined {
  const { draft } = useDraft();
  const isOther = type === UNKNOWN_TYPE && schema !== null;
  const sources = useTypeSources(headName(draft, collection) ?? '', isOther);
  if (!isOther || sources === undefined) return isOther ? undefined : null;
  const wanted = schema.data_type.replaceAll('"', '').replace(/\[\]$/, '');
  const object = sources.objects.find((each) => each.kind === 'type' && each.id === wanted);
  if (object !== undefined) return typeOfObject(object);
  const head = needNamed(wanted, sources.extras);
  return head && typeOfNeed(head, needNamed(wanted, draftedExtras(draft, collection, sources.extras)) ?? head);
}

interface TypeSources {
  extras: TableExtras;
  objects: readonly SchemaObject[];
}

/** @param name the name of the collection at the head. Empty for a new one */
function useTypeSources(name: string, isAsked: boolean): TypeSources | undefined {
  const mayRead = useMay('readRequests');
  const extras = useQuery({
    ...extrasQuery(name),
    enabled: isAsked && mayRead && name !== '',
    retry: false,
  });
  const types = useManagedTypes();
  if (extras.isLoading || types === undefined) return undefined;
  return { extras: extras.data ?? {}, objects: types };
}

const needNamed = (name: string, { needs = [] }: TableExtras): TypeNeed | null =>
  needs
    .filter((need) => need.kind === 'enum' || need.kind === 'domain')
    .find((need) => [need.name, `${need.schema}.${need.name}`].includes(name)) ?? null;

function typeOfNeed(head: TypeNeed, need: TypeNeed): ColumnType {
  const [headLabels, labels] = [head, need].map((each) => (each.kind === 'enum' ? each.labels : []));
  const text =
    need.kind === 'enum'
      ? need.labels.join(', ')
      : [need.type, need.not_null && 'NOT NULL', ...(need.checks ?? []).map(({ definition }) => definition)]
          .filter((part) => typeof part === 'string')
          .join(' ');
  return { kind: need.kind, name: need.name, labels: labels ?? [], headLabels: headLabels ?? [], text, need };
}

/** Returns null for composite types and ranges. */
function typeOfObject({ id, definition }: SchemaObject): ColumnType | null {
  if (typeof definition !== 'string') return null;
  const labels = labelsIn(definition);
  if (labels !== null)
    return { kind: 'enum', name: id, labels, headLabels: labels, text: labels.join(', '), need: null };
  const [, text] = /^\s*CREATE\s+DOMAIN\s+.*?\s+AS\s+(.*)$/is.exec(definition) ?? [];
  return text === undefined ? null : { kind: 'domain', name: id, labels: [], headLabels: [], text, need: null };
}

/** Matches the definition of an enum up to its values, the values, and the rest. */
const ENUM =
  /^(\s*CREATE\s+TYPE\s+\S.*?\s+AS\s+ENUM\s*\(\s*)((?:'(?:[^']|'')*'(?:\s*,\s*'(?:[^']|'')*')*)?)(\s*\)\s*;?\s*)$/is;

/** Returns the values in the definition of an enum. Null for a different definition. */
export function labelsIn(definition: string): string[] | null {
  const list = ENUM.exec(definition)?.[2];
  if (list === undefined) return null;
  return [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) => label.replaceAll("''", "'"));
}

/** Returns the definition of an enum with other values. */
const withLabels = (definition: string, labels: readonly string[]): string =>
  definition.replace(ENUM, (_, start: string, _labels: string, end: string) => {
    const list = labels.map((label) => `'${label.replaceAll("'", "''")}'`).join(', ');
    return start + list + end;
  });

/** Returns the types that are objects, with the draft applied. Undefined while they are loading. */
export function useManagedTypes(): SchemaObject[] | undefined {
  const { data, error } = useDraftedObjects();
  if (data === undefined) return error === null ? undefined : [];
  return data.flatMap(({ document, mark }) => (document.kind === 'type' && mark !== 'removed' ? [document] : []));
}

/** The start of the option of a managed type. No type of a field has it. */
const MANAGED = 'object ';

/** Returns the option of the column's type in the list of types. */
export function typeOption({ type, schema }: Pick<Field, 'type' | 'schema'>, managed: readonly SchemaObject[]): string {
  const id = schema?.data_type.replaceAll('"', '');
  return type === UNKNOWN_TYPE && managed.some((each) => each.id === id) ? `${MANAGED}${id}` : type;
}

/**
 * Returns the types that the field can have. A field with a column cannot lose it, and an alias field cannot get one.
 * @param before null for a new field
 */
export function fieldTypeOptions(before: Field | null, managed: readonly SchemaObject[]) {
  if (before !== null && before.schema === null) return typeOptions([ALIAS_TYPE]);
  const other = before === null ? UNKNOWN_TYPE : ALIAS_TYPE;
  const own = managed.map(({ id }) => ({ value: `${MANAGED}${id}`, label: id }));
  return [...typeOptions(FIELD_TYPES.filter((type) => type !== other)), ...own];
}

/** Returns the type and the column type that an option stands for. */
export function typeOfOption(option: string): { type: string; dataType: string } {
  if (!option.startsWith(MANAGED)) return { type: option, dataType: dataTypesOf(option)?.[0] ?? 'text' };
  const id = option.slice(MANAGED.length);
  const { schema, name } = splitQualifiedId(id);
  return { type: UNKNOWN_TYPE, dataType: schema === undefined ? quoteUnlessPlain(name) : id };
}

/* The other columns of a type. */

/** Returns the names of the collections, at the head, that may use types which the service does not have. */
function useCollectionsWithTypes(isAsked: boolean): string[] | undefined {
  const { data } = useQuery({ ...fieldNamesQuery(), enabled: isAsked });
  return (
    data && [...new Set(data.flatMap(({ collection, type }) => (type === UNKNOWN_TYPE ? [collection] : [])))].sort()
  );
}

/** True if a column has the type. Undefined while it is loading. */
function useIsTypeUsed(name: string): boolean | undefined {
  const collections = useCollectionsWithTypes(true);
  const fields = useQueries({ queries: (collections ?? []).map(fieldsQuery) });
  if (collections === undefined || fields.some(({ data }) => data === undefined)) return undefined;
  return fields.some(({ data = [] }) =>
    data.some(({ schema }) => schema?.data_type.replaceAll('"', '').replace(/\[\]$/, '') === name),
  );
}

interface TypeUser {
  collection: string;
  /** The extras at the head. */
  extras: TableExtras;
}

/** Returns the tables whose extras define the type, because they must change together. Undefined while loading. */
export function useTypeUsers(type: ColumnType | null): TypeUser[] | undefined {
  const isAsked = type?.need?.kind === 'enum';
  const { draft } = useDraft();
  const names = useCollectionsWithTypes(isAsked) ?? [];
  const { data: extras } = useQuery({ ...extrasOfQuery(names), enabled: isAsked && names.length > 0 });
  const { data: collections } = useDraftedCollections();
  if (!isAsked) return [];
  if (extras === undefined || collections === undefined) return undefined;
  return collections.flatMap(({ document: { collection }, mark }) => {
    const own = extras.get(headName(draft, collection) ?? '');
    const isUser = own?.needs?.some((need) => isSameType(need, type.need)) === true;
    return isUser && mark !== 'removed' ? [{ collection, extras: own }] : [];
  });
}

const isSameType = (one: Need, other: Need | null): boolean =>
  one.kind === other?.kind && one.name === other.name && schemaOf(one) === schemaOf(other);

const schemaOf = (need: Need): string | undefined => ('schema' in need ? need.schema : undefined);

/* The input of the values. */

export interface EnumValue {
  label: string;
  /** The value in the database. Null for a new one. */
  was: string | null;
}

export const enumValues = ({ labels, headLabels }: Pick<ColumnType, 'labels' | 'headLabels'>): EnumValue[] =>
  labels.map((label) => ({ label, was: headLabels.includes(label) ? label : null }));

/** Returns the error by its input. Empty if all values are set and different. */
export function enumFaults(values: readonly EnumValue[]): Record<string, string> {
  const labels = values.map(({ label }) => label);
  if (labels.includes('')) return { values: words.enterValue };
  const repeated = labels.find((label, index) => labels.indexOf(label) !== index);
  return repeated === undefined ? {} : { values: words.repeated(repeated) };
}

interface EnumEdit {
  type: ColumnType | null;
  users: readonly TypeUser[];
  values: readonly EnumValue[];
}

/** Changes the values of an enum in the extras of all tables that define it. */
export function putEnumValues(editor: DraftEditor, { type, users, values }: EnumEdit): void {
  if (type?.need?.kind !== 'enum') return;
  const labels = values.map(({ label }) => label);
  for (const { collection, extras } of users) {
    const drafted = draftedExtras(editor.draft, collection, extras);
    const needs = (drafted.needs ?? []).map((need) =>
      need.kind === 'enum' && isSameType(need, type.need) ? { ...need, labels } : need,
    );
    editor.putExtras(collection, extras, { ...drafted, needs });
  }
}

interface EnumInputProps {
  values: readonly EnumValue[];
  onChange: (values: EnumValue[]) => void;
  description: string;
  error?: string | undefined;
  canAdd?: boolean;
  /** True if existing values can get another name. */
  canRename?: boolean;
  /** True if existing values can be moved and removed. */
  canMove?: boolean;
}

function EnumInput(props: EnumInputProps) {
  const { values, onChange, description, error, canAdd = true, canRename = false, canMove = false } = props;
  return (
    <RowsInput<EnumValue>
      label={words.values}
      description={description}
      error={error}
      rows={values}
      onChange={onChange}
      cellsOf={({ label, was }, index) => [
        { member: 'label', label: words.valueOf(index + 1), value: label, isReadOnly: was !== null && !canRename },
      ]}
      isFixed={({ was }) => was !== null && !canMove}
      added={canAdd ? { label: '', was: null } : null}
      addLabel={words.add}
      removeLabelOf={({ label }, index) => words.remove(label || index + 1)}
      moveLabelsOf={({ label }, index) => ({
        up: words.moveUp(label || index + 1),
        down: words.moveDown(label || index + 1),
      })}
    />
  );
}

/**
 * Shows the values of an enum inside the form of a field. Those of an object are edited on its own page.
 */
export function EnumPart({ type }: { type: ColumnType }) {
  const { field, fieldState } = useController({ name: 'values' });
  const users = useTypeUsers(type) ?? [];
  const mayChange = useMay('propose');
  if (type.need === null)
    return (
      <div>
        <Text size="sm" fw={500}>
          {words.values}
        </Text>
        <Text size="sm">{type.text}</Text>
        {mayChange && (
          <Link to="/objects" search={{ kind: 'type', id: type.name }}>
            {words.edit(type.name)}
          </Link>
        )}
      </div>
    );
  const shared = users.length > 1 ? ` ${words.shared(users.map(({ collection }) => collection))}` : '';
  return (
    <EnumInput
      values={field.value as EnumValue[]}
      onChange={field.onChange}
      description={words.inDraft + shared}
      error={fieldState.error?.message}
    />
  );
}

/* The definition of an enum that is an object of its own. */

interface EnumProps {
  name: string;
  definition: string;
  labels: readonly string[];
  /** The values in the database. Empty for a new type. */
  headLabels: readonly string[];
  error: string | undefined;
  /** The input of the whole definition. */
  sql: ReactNode;
  texts: Record<'asSql' | 'usedType' | 'unusedType', string>;
  onChange: (definition: string) => void;
}

/** Edits the values of an enum. Another mode discards the changes of the former one. */
export function EnumDefinition(props: EnumProps) {
  const { name, definition, labels, headLabels, error, sql, texts, onChange } = props;
  const [isSql, setSql] = useState(false);
  return (
    <>
      <Switch
        label={texts.asSql}
        checked={isSql}
        onChange={(event) => {
          setSql(event.currentTarget.checked);
          onChange(definition);
        }}
      />
      {isSql ? (
        sql
      ) : (
        <Values
          name={name}
          texts={texts}
          labels={labels}
          headLabels={headLabels}
          error={error}
          onChange={(next) => onChange(withLabels(definition, next))}
        />
      )}
    </>
  );
}

interface ValuesProps extends Pick<EnumProps, 'name' | 'labels' | 'headLabels' | 'error' | 'texts'> {
  onChange: (labels: string[]) => void;
}

/**
 * The values of an enum. If columns use it, a change can either add values, rename them, or move and remove them. The
 * service cannot tell a removed and an added value from a renamed one.
 */
function Values({ name, labels, headLabels, error, texts, onChange }: ValuesProps) {
  const [values, setValues] = useState(() => {
    // The draft renames values if their number is the same.
    const renamed = labels.length === headLabels.length ? headLabels : [];
    return enumValues({ labels, headLabels }).map(({ label, was }, index) => ({
      label,
      was: was ?? renamed[index] ?? null,
    }));
  });
  const isUsed = useIsTypeUsed(name) !== false;
  const isRenaming = values.some(({ label, was }) => was !== null && was !== label);
  const isAdding = values.some(({ was }) => was === null);
  const kept = values.flatMap(({ was }) => (was === null ? [] : [was]));
  const isMoving = headLabels.some((label, index) => label !== kept[index]);
  const change = (next: EnumValue[]) => {
    setValues(next);
    onChange(next.map(({ label }) => label));
  };
  return (
    <EnumInput
      values={values}
      onChange={change}
      description={isUsed ? texts.usedType : texts.unusedType}
      error={error}
      canAdd={!isUsed || !(isRenaming || isMoving)}
      canRename={!isUsed || !(isAdding || isMoving)}
      canMove={!isUsed || !(isAdding || isRenaming)}
    />
  );
}
