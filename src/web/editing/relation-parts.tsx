import { NativeSelect, TextInput, Text } from '@mantine/core';
import { useController, useFormContext } from 'react-hook-form';
import { REFERENTIAL_ACTIONS } from '../../schema/model/model.js';
import { MOST_LISTED, NameSearch } from './inputs.js';
import { useDraftedFields } from '../draft/store.js';
import { ProblemAlert } from '../shared/problem-alert.js';
import type { KeyColumn } from './relations.js';
import { messages } from './messages.js';

const words = messages.relation;

/**
 * Returns the key column of a collection. Undefined until it is known. Null if the collection has no single-column key,
 * so that it cannot be referenced.
 */
export function useKeyColumn(collection: string | null): KeyColumn | null | undefined {
  const { data: fields } = useDraftedFields(collection);
  if (fields === undefined) return undefined;
  const keys = fields.flatMap(({ document: { type, schema }, mark }) =>
    mark !== 'removed' && schema?.is_primary_key === true ? [{ type, schema }] : [],
  );
  return keys.length === 1 ? (keys[0] ?? null) : null;
}

/** @param collection null or empty if none is selected yet */
export function KeyProblem({ collection }: { collection: string | null }) {
  const chosen = collection === '' ? null : collection;
  const { error, refetch } = useDraftedFields(chosen);
  const key = useKeyColumn(chosen);
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (chosen === null || key !== null) return null;
  return (
    <Text size="sm" c="red" role="alert">
      {words.noKey(chosen)}
    </Text>
  );
}

/** The names that exist, so that forms can suggest unused ones. */
interface DraftedNames {
  /** Names of tables that a relation can reference. */
  collections: readonly string[];
  /** All names in use, including folders. */
  taken: ReadonlySet<string>;
}

/** Returns the first free name: `articles_tags`, then `articles_tags_1` … */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let count = 1; taken.has(name); count++) name = `${wanted}_${count}`;
  return name;
}

/** @returns the error of each name, by its input */
export function namesFaults(
  names: Readonly<Record<string, string>>,
  needed: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    needed.filter((name) => (names[name] ?? '').trim() === '').map((name) => [name, messages.common.enterName]),
  );
}

export interface RelationFormProps {
  collection: string;
  names: DraftedNames;
  /** @param field the field of this collection that shows the new relation, if any */
  onDone: (field?: string) => void;
}

/** @param props.name the name of the value in the surrounding form */
export function NameInput({ name, label, help }: { name: string; label: string; help?: string }) {
  const { register, getFieldState, formState } = useFormContext();
  return (
    <TextInput
      label={label}
      description={help}
      autoComplete="off"
      spellCheck={false}
      error={getFieldState(name, formState).error?.message}
      {...register(name)}
    />
  );
}

interface SelectProps {
  name: string;
  label: string;
  options: readonly string[];
  onChoose?: (value: string) => void;
}

/**
 * Shows a list of names, or a search if there are too many.
 * @param props.onChoose called with a name. A list also passes an empty one when the choice is cleared
 */
export function NameSelect(props: SelectProps) {
  return props.options.length > MOST_LISTED ? <SearchedName {...props} /> : <NameList {...props} />;
}

function SearchedName({ name, label, options, onChoose }: SelectProps) {
  const { field, fieldState } = useController({ name });
  return (
    <NameSearch
      label={label}
      error={fieldState.error?.message}
      names={options}
      ref={field.ref}
      value={field.value as string}
      onBlur={field.onBlur}
      onChange={(chosen) => {
        field.onChange(chosen);
        if (chosen !== '') onChoose?.(chosen);
      }}
    />
  );
}

function NameList({ name, label, options, onChoose }: SelectProps) {
  const { register, getFieldState, formState } = useFormContext();
  return (
    <NativeSelect
      label={label}
      data={[{ value: '', label: words.choose }, ...options.map((option) => ({ value: option, label: option }))]}
      error={getFieldState(name, formState).error?.message}
      {...register(name, { onChange: (event: { target: { value: string } }) => onChoose?.(event.target.value) })}
    />
  );
}

/**
 * The input of `onDelete` in the surrounding form. The options describe the effect on the row and not the SQL action.
 */
export function OnDelete({ label }: { label: string }) {
  const { register } = useFormContext();
  return (
    <NativeSelect
      label={label}
      data={REFERENTIAL_ACTIONS.map((value) => ({ value, label: words.effects[value] }))}
      {...register('onDelete')}
    />
  );
}
