/* The input of a member by its kind, with its error. */
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
  Group,
  Text,
} from '@mantine/core';
import { type ReactElement, useState } from 'react';
import { useController } from 'react-hook-form';
import searchIcon from 'icon:search';
import { useQuery } from '@tanstack/react-query';
import classes from './editor-frame.module.css';
import { useDraftedCollections, useDraftedFields } from '../draft/store.js';
import { InterfaceOptions } from './interface-options.js';
import { DISPLAYS, INTERFACES, type InterfaceDescription } from './interfaces.js';
import type { Member } from './members.js';
import type { InputKind } from '../../schema/model/model.js';
import { MaterialIcon } from '../shared/glyph.js';
import { MOST_LISTED, NameSearch, RowsInput } from './inputs.js';
import { isObject } from '../../kernel/json.js';
import { messages } from './messages.js';

const words = messages.inputs;

/** Maximum number of icons shown at once, because each is a separate file. */
const MOST = 24;

/**
 * The input of an icon. It also accepts unknown names. Empty means null. The list of names is loaded with the first
 * such input.
 */
function IconInput({ member, value, onChange, onBlur, ref, error }: InputProps) {
  const name = typeof value === 'string' ? value : '';
  const { data: names = '' } = useQuery({
    queryKey: ['icon names'],
    queryFn: async () => (await import('icon-names')).default,
    staleTime: Infinity,
  });
  return (
    <Autocomplete
      ref={ref}
      label={member.label}
      description={words.iconHelp}
      error={error}
      onBlur={onBlur}
      leftSection={<MaterialIcon name={name === '' ? null : name} otherwise={searchIcon} />}
      data={namesFor(names, name)}
      filter={({ options }) => options}
      comboboxProps={{ withinPortal: false }}
      maxDropdownHeight={260}
      renderOption={({ option }) => (
        <Group gap="sm" wrap="nowrap">
          <MaterialIcon name={option.value} otherwise={searchIcon} size={22} />
          <Text size="sm">{option.value}</Text>
        </Group>
      )}
      value={name}
      onChange={(next) => onChange(next === '' ? null : next)}
    />
  );
}

/** Returns the matching names. Those with the typed prefix come first. */
function namesFor(names: string, typed: string): string[] {
  const wanted = typed
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  const all = names.split(' ');
  const holding = wanted === '' ? COMMON : all.filter((name) => name.includes(wanted));
  const rank = (name: string) => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2);
  return [...holding].sort((one, other) => rank(one) - rank(other)).slice(0, MOST);
}

const COMMON = [
  'article',
  'person',
  'group',
  'shopping_cart',
  'inventory_2',
  'event',
  'image',
  'folder',
  'label',
  'mail',
  'home',
  'settings',
  'payments',
  'chat',
  'map',
  'category',
  'star',
  'public',
  'local_shipping',
  'school',
];

/** An entry of the list. `more` contains further members of the entry: `singular`, `plural`. */
interface Row {
  language: string;
  translation: string;
  more: object;
}

/**
 * The input of translations. It keeps the format of the value: a list of entries, or an object by language. An object
 * becomes a list while two rows have the same language. The value is null without rows.
 */
function TranslationsInput({ member, value, onChange, error }: InputProps) {
  return (
    <RowsInput<Row>
      label={member.label}
      error={error}
      rows={rowsOf(value)}
      onChange={(rows) => onChange(valueOf(rows, isObject(value)))}
      cellsOf={({ language, translation }) => [
        { member: 'language', label: words.language, placeholder: 'de-DE', width: 110, value: language },
        { member: 'translation', label: words.nameIn(language), value: translation },
      ]}
      added={{ language: '', translation: '', more: {} }}
      addLabel={words.addLanguage}
      removeLabelOf={({ language }) => words.removeLanguage(language)}
    />
  );
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

function rowsOf(value: unknown): Row[] {
  if (Array.isArray(value)) {
    return value.filter(isObject).map(({ language, translation, ...more }) => ({
      language: asText(language),
      translation: asText(translation),
      more,
    }));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).map(([language, translation]) => ({
    language,
    translation: asText(translation),
    more: {},
  }));
}

function valueOf(rows: readonly Row[], byLanguage: boolean): unknown {
  if (rows.length === 0) return null;
  const isClear = new Set(rows.map(({ language }) => language)).size === rows.length;
  if (byLanguage && isClear)
    return Object.fromEntries(rows.map(({ language, translation }) => [language, translation]));
  return rows.map(({ language, translation, more }) => ({ language, translation, ...more }));
}

/** The names that inputs offer. */
export interface Choices {
  fields: readonly string[];
  /** Fields without a column. */
  aliases: readonly string[];
  collections: readonly string[];
}

interface InputProps {
  member: Member;
  value: unknown;
  onChange: (value: unknown) => void;
  onBlur: () => void;
  ref: (element: unknown) => void;
  error: string | undefined;
  choices: Choices;
}

/** @param collection null for a collection that does not exist yet */
export function useChoices(collection: string | null): Choices {
  const { data: fields = [] } = useDraftedFields(collection);
  const { data: collections = [] } = useDraftedCollections();
  const there = fields.filter(({ mark }) => mark !== 'removed').map(({ document }) => document);
  return {
    fields: there.filter(({ schema }) => schema !== null).map(({ field }) => field),
    aliases: there.filter(({ schema }) => schema === null).map(({ field }) => field),
    collections: collections
      .filter(({ mark, document }) => mark !== 'removed' && document.collection !== collection)
      .map(({ document }) => document.collection)
      .sort(),
  };
}

/** Must be inside a form. Empty input becomes null and not an empty text or list. */
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

const commonProps = ({ member, error, onBlur }: InputProps) => ({
  label: member.label,
  description: member.help,
  error,
  onBlur,
});

const emptyToNull = (text: string): string | null => (text === '' ? null : text);
const asString = (value: unknown): string => (typeof value === 'string' ? value : '');

function PlainTextInput(props: InputProps) {
  return (
    <TextInput
      {...commonProps(props)}
      ref={props.ref}
      value={asString(props.value)}
      onChange={(event) => props.onChange(emptyToNull(event.currentTarget.value))}
    />
  );
}

function Area(props: InputProps) {
  return (
    <Textarea
      {...commonProps(props)}
      ref={props.ref}
      autosize
      minRows={2}
      maxRows={8}
      value={asString(props.value)}
      onChange={(event) => props.onChange(emptyToNull(event.currentTarget.value))}
      {...(props.member.kind === 'code' && { classNames: { input: classes.code ?? '' }, spellCheck: false })}
    />
  );
}

function Flag(props: InputProps) {
  return (
    <Checkbox
      {...commonProps(props)}
      ref={props.ref}
      checked={props.value === true}
      onChange={(event) => props.onChange(event.currentTarget.checked)}
    />
  );
}

function Count(props: InputProps) {
  return (
    <NumberInput
      {...commonProps(props)}
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
      {...commonProps(props)}
      ref={props.ref}
      data={[...(props.member.options ?? [])]}
      value={asString(props.value)}
      onChange={(event) => props.onChange(emptyToNull(event.currentTarget.value))}
    />
  );
}

type Descriptions = Readonly<Record<string, InterfaceDescription>>;

/** Creates an input that suggests interfaces by name or by label, and accepts others. */
const SuggestionOf = (descriptions: Descriptions) =>
  function Suggestion(props: InputProps) {
    return (
      <Autocomplete
        {...commonProps(props)}
        ref={props.ref}
        data={Object.keys(descriptions)}
        filter={({ options, search }) => {
          // The current interface is not a filter.
          if (search in descriptions) return options;
          const needle = search.trim().toLowerCase();
          return options.filter(
            (each) =>
              'value' in each && `${each.value} ${descriptions[each.value]?.label}`.toLowerCase().includes(needle),
          );
        }}
        renderOption={({ option }) => (
          <div>
            <Text size="sm">{option.value}</Text>
            <Text size="xs" c="dimmed">
              {descriptions[option.value]?.label}
            </Text>
          </div>
        )}
        value={asString(props.value)}
        onChange={(value) => props.onChange(emptyToNull(value))}
        comboboxProps={{ withinPortal: false }}
      />
    );
  };

const OptionsOf = (kind: 'interface' | 'display', descriptions: Descriptions) =>
  function Options(props: InputProps) {
    return (
      <InterfaceOptions
        kind={kind}
        descriptions={descriptions}
        label={props.member.label}
        error={props.error}
        value={props.value}
        onChange={props.onChange}
        json={<Json {...props} />}
        renderOption={(option) => {
          const Option = INPUTS[option.member.kind];
          return <Option {...props} {...option} error={undefined} ref={() => undefined} />;
        }}
      />
    );
  };

/** Creates an input that accepts an existing name or none. */
const NameOf = (names: (choices: Choices) => readonly string[]) =>
  function Name(props: InputProps) {
    const value = asString(props.value);
    const there = names(props.choices);
    if (there.length > MOST_LISTED)
      return (
        <NameSearch
          {...commonProps(props)}
          ref={props.ref}
          names={there}
          value={value}
          onChange={(name) => props.onChange(emptyToNull(name))}
        />
      );
    const options = there.includes(value) || value === '' ? there : [value, ...there];
    return (
      <NativeSelect
        {...commonProps(props)}
        ref={props.ref}
        data={[{ value: '', label: '—' }, ...options.map((name) => ({ value: name, label: name }))]}
        value={value}
        onChange={(event) => props.onChange(emptyToNull(event.currentTarget.value))}
      />
    );
  };

/** The input of JSON. It keeps the typed text. Invalid JSON becomes the value, so that validation rejects it. */
function Json(props: InputProps) {
  const { value } = props;
  const [text, setText] = useState(
    typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value, null, 2),
  );
  return (
    <JsonInput
      {...commonProps(props)}
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
      {...commonProps(props)}
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
      {...commonProps(props)}
      ref={props.ref}
      format="hex"
      swatches={SWATCHES}
      swatchesPerRow={9}
      popoverProps={{ withinPortal: false }}
      eyeDropperButtonProps={{ 'aria-label': words.pickColor }}
      value={asString(props.value)}
      onChange={(value) => props.onChange(emptyToNull(value))}
    />
  );
}

const SWATCHES = ['#2ecda7', '#3399ff', '#6644ff', '#e35169', '#ffa439', '#ffc23b', '#7a8699', '#18222f', '#a2b5cd'];

const INPUTS: Readonly<Record<InputKind, (props: InputProps) => ReactElement>> = {
  text: PlainTextInput,
  area: Area,
  code: Area,
  number: Count,
  flag: Flag,
  choice: Choice,
  interface: SuggestionOf(INTERFACES),
  display: SuggestionOf(DISPLAYS),
  'interface-options': OptionsOf('interface', INTERFACES),
  'display-options': OptionsOf('display', DISPLAYS),
  icon: IconInput,
  color: Color,
  json: Json,
  words: Words,
  translations: TranslationsInput,
  field: NameOf(({ fields }) => fields),
  alias: NameOf(({ aliases }) => aliases),
  collection: NameOf(({ collections }) => collections),
};
