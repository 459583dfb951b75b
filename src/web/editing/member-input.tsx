/** The input of a member by its kind, with its error. */
import {
  Autocomplete,
  Checkbox,
  ColorInput,
  JsonInput,
  NativeSelect,
  NumberInput,
  TagsInput,
  TextInput,
  Textarea,
} from '@mantine/core';
import { type ReactElement, useState } from 'react';
import { useController } from 'react-hook-form';
import classes from './editor-frame.module.css';
import { IconInput } from './icon-input.js';
import type { Choices, InputProps } from './input-props.js';
import type { Kind, Member } from './members.js';
import { MOST_LISTED, NameSearch } from './name-search.js';
import { TranslationsInput } from './translations-input.js';

/** Only inside a form. Empty input becomes null, not an empty text or list. */
export function MemberInput({ member, choices }: { member: Member; choices: Choices }) {
  const { field, fieldState } = useController({ name: member.path });
  const Input = INPUTS[member.kind];
  const { value, onChange, onBlur, ref } = field as Omit<InputProps, 'member' | 'error' | 'choices'>;
  const error = fieldState.error?.message;
  return (
    <Input
      member={member}
      value={value}
      onChange={onChange}
      onBlur={onBlur}
      ref={ref}
      error={error}
      choices={choices}
    />
  );
}

const common = ({ member, error, onBlur }: InputProps) => ({
  label: member.label,
  description: member.help,
  error,
  onBlur,
});

const orNull = (text: string): string | null => (text === '' ? null : text);
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

function Text(props: InputProps) {
  return (
    <TextInput
      {...common(props)}
      ref={props.ref}
      value={asText(props.value)}
      onChange={(event) => props.onChange(orNull(event.currentTarget.value))}
    />
  );
}

function Area(props: InputProps) {
  return (
    <Textarea
      {...common(props)}
      ref={props.ref}
      autosize
      minRows={2}
      maxRows={8}
      value={asText(props.value)}
      onChange={(event) => props.onChange(orNull(event.currentTarget.value))}
      {...(props.member.kind === 'code' && { classNames: { input: classes.code ?? '' }, spellCheck: false })}
    />
  );
}

function Flag(props: InputProps) {
  return (
    <Checkbox
      {...common(props)}
      ref={props.ref}
      checked={props.value === true}
      onChange={(event) => props.onChange(event.currentTarget.checked)}
    />
  );
}

function Count(props: InputProps) {
  return (
    <NumberInput
      {...common(props)}
      ref={props.ref}
      allowDecimal={false}
      value={typeof props.value === 'number' ? props.value : ''}
      onChange={(value) => props.onChange(typeof value === 'number' ? value : null)}
    />
  );
}

function Choice(props: InputProps) {
  return (
    <NativeSelect
      {...common(props)}
      ref={props.ref}
      data={[...(props.member.options ?? [])]}
      value={asText(props.value)}
      onChange={(event) => props.onChange(orNull(event.currentTarget.value))}
    />
  );
}

function Suggestion(props: InputProps) {
  return (
    <Autocomplete
      {...common(props)}
      ref={props.ref}
      data={[...(props.member.options ?? [])].map((option) => (typeof option === 'string' ? option : option.value))}
      limit={50}
      value={asText(props.value)}
      onChange={(value) => props.onChange(orNull(value))}
      comboboxProps={{ withinPortal: false }}
    />
  );
}

/** An existing name or none. */
const NameOf = (names: (choices: Choices) => readonly string[]) =>
  function Name(props: InputProps) {
    const value = asText(props.value);
    const there = names(props.choices);
    if (there.length > MOST_LISTED)
      return (
        <NameSearch
          {...common(props)}
          ref={props.ref}
          names={there}
          value={value}
          onChange={(name) => props.onChange(orNull(name))}
        />
      );
    const options = there.includes(value) || value === '' ? there : [value, ...there];
    return (
      <NativeSelect
        {...common(props)}
        ref={props.ref}
        data={[{ value: '', label: '—' }, ...options.map((name) => ({ value: name, label: name }))]}
        value={value}
        onChange={(event) => props.onChange(orNull(event.currentTarget.value))}
      />
    );
  };

/** Keeps the typed text. Invalid JSON becomes the value, so that validation rejects it. */
function Json(props: InputProps) {
  const { value } = props;
  const [text, setText] = useState(
    typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value, null, 2),
  );
  return (
    <JsonInput
      {...common(props)}
      ref={props.ref}
      autosize
      minRows={2}
      maxRows={14}
      spellCheck={false}
      value={text}
      onChange={(next) => {
        setText(next);
        props.onChange(parsed(next));
      }}
    />
  );
}

function parsed(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function Words(props: InputProps) {
  const { value } = props;
  return (
    <TagsInput
      {...common(props)}
      ref={props.ref}
      value={Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []}
      onChange={(next) => props.onChange(next.length === 0 ? null : next)}
      comboboxProps={{ withinPortal: false }}
    />
  );
}

function Color(props: InputProps) {
  return (
    <ColorInput
      {...common(props)}
      ref={props.ref}
      format="hex"
      swatches={SWATCHES}
      swatchesPerRow={9}
      popoverProps={{ withinPortal: false }}
      eyeDropperButtonProps={{ 'aria-label': 'Pick a color from the screen' }}
      value={asText(props.value)}
      onChange={(value) => props.onChange(orNull(value))}
    />
  );
}

const SWATCHES = ['#2ecda7', '#3399ff', '#6644ff', '#e35169', '#ffa439', '#ffc23b', '#7a8699', '#18222f', '#a2b5cd'];

const INPUTS: Readonly<Record<Kind, (props: InputProps) => ReactElement>> = {
  text: Text,
  area: Area,
  code: Area,
  number: Count,
  flag: Flag,
  choice: Choice,
  suggestion: Suggestion,
  icon: IconInput,
  color: Color,
  json: Json,
  words: Words,
  translations: TranslationsInput,
  field: NameOf(({ fields }) => fields),
  alias: NameOf(({ aliases }) => aliases),
  collection: NameOf(({ collections }) => collections),
};
