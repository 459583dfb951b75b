/** The inputs for the options of an interface or a display. */
import {
  Fieldset,
  Input,
  Stack,
  Switch,
  Alert,
  Badge,
  Checkbox,
  Chip,
  Divider,
  Group,
  NativeSelect,
  NumberInput,
  Radio,
  Slider,
  Text,
  TextInput,
  Textarea,
} from '@mantine/core';
import { type ReactNode, useState, type ReactElement } from 'react';
import { useWatch } from 'react-hook-form';
import { isObject } from '../../kernel/json.js';
import type { InputKind } from '../../schema/model/model.js';
import { MaterialIcon } from '../shared/glyph.js';
import classes from './editor-frame.module.css';
import type { InterfaceDescription, InterfaceOption } from './interfaces.js';
import type { Member } from './members.js';
import { messages } from './messages.js';
import { RowsInput } from './inputs.js';

const words = messages.options;
const previewWords = messages.preview;

/** The value of an option, with a member that describes its input. */
interface OptionInputProps {
  member: Member;
  value: unknown;
  onChange: (value: unknown) => void;
}

interface InterfaceOptionsProps {
  label: string;
  error: string | undefined;
  descriptions: Readonly<Record<string, InterfaceDescription>>;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Renders the input of one option. */
  renderOption: (props: OptionInputProps) => ReactNode;
  /** The input of all options as JSON. */
  json: ReactNode;
  kind: 'interface' | 'display';
}

/**
 * Shows an input for each option of the chosen interface. Other options stay as they are. The options of an unknown
 * interface are edited as JSON.
 */
export function InterfaceOptions(props: InterfaceOptionsProps) {
  const { label, kind, descriptions, value } = props;
  const chosen = useWatch({ name: `meta.${kind}` }) as string | null;
  const description = descriptions[chosen ?? ''];
  if (description === undefined && value == null) return null;
  return (
    <Fieldset legend={label} variant="default">
      <Stack gap="sm">
        <OptionsOrJson {...props} options={description?.options ?? []} />
        <FieldPreview chosen={chosen} kind={kind} options={value} />
      </Stack>
    </Fieldset>
  );
}

type OptionsProps = InterfaceOptionsProps & { options: readonly InterfaceOption[] };

function OptionsOrJson(props: OptionsProps) {
  const { options, value, json } = props;
  const [isJson, setJson] = useState(false);
  // Invalid JSON stays in its input, where the user sees the error.
  const isInvalid = value != null && !isObject(value);
  if (isInvalid || (options.length === 0 && value != null)) return json;
  if (options.length === 0) return null;
  return (
    <>
      {isJson ? json : <OptionInputs {...props} />}
      <Switch
        size="xs"
        label={words.editAsJson}
        checked={isJson}
        onChange={(event) => setJson(event.currentTarget.checked)}
      />
    </>
  );
}

function OptionInputs({ options, value, error, onChange, renderOption }: OptionsProps) {
  const values = isObject(value) ? value : {};
  const set = ({ name, isOn = false }: InterfaceOption, next: unknown) => {
    const { [name]: _former, ...others } = values;
    const all = next === null || next === isOn ? others : { ...others, [name]: next };
    onChange(Object.keys(all).length === 0 ? null : all);
  };
  return (
    <>
      {options.map((option) => {
        const input = { value: values[option.name] ?? option.isOn, onChange: (next: unknown) => set(option, next) };
        if (option.kind === 'choices') return <ChoicesInput key={option.name} label={option.label} {...input} />;
        return <div key={option.name}>{renderOption({ ...input, member: memberOf(option) })}</div>;
      })}
      {error !== undefined && <Input.Error>{error}</Input.Error>}
    </>
  );
}

function memberOf({ name, label, kind }: InterfaceOption): Member {
  if (typeof kind !== 'string') {
    const options = ['', ...kind.filter((each) => each !== '')].map((each) => ({ value: each, label: each || '—' }));
    return { path: name, label, kind: 'choice', options };
  }
  return { path: name, label, kind: kind as InputKind };
}

/** A choice. `value` may be a number or `true`, as long as nobody edits it. `more` contains its other members. */
interface Choice {
  text: string;
  value: unknown;
  more: object;
}

function choicesOf(value: unknown): Choice[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map(({ text, value: each, ...more }) => ({
    text: typeof text === 'string' ? text : '',
    value: each,
    more,
  }));
}

const shownValue = (value: unknown): string =>
  value == null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** The input of choices. The value is null without choices. */
function ChoicesInput({ label, value, onChange }: { label: string } & Pick<OptionInputProps, 'value' | 'onChange'>) {
  return (
    <RowsInput<Choice>
      label={label}
      rows={choicesOf(value)}
      onChange={(choices) =>
        onChange(
          choices.length === 0 ? null : choices.map(({ text, value: each, more }) => ({ text, value: each, ...more })),
        )
      }
      cellsOf={(choice, index) => [
        { member: 'value', label: words.valueOf(index + 1), placeholder: words.value, value: shownValue(choice.value) },
        { member: 'text', label: words.textOf(index + 1), placeholder: words.text, value: choice.text },
      ]}
      added={{ text: '', value: '', more: {} }}
      addLabel={words.addChoice}
      removeLabelOf={(_choice, index) => words.removeChoice(index + 1)}
    />
  );
}

/* Shows how a form and a list present the field, with sample values. */

type Options = Readonly<Record<string, unknown>>;

interface Sample {
  options: Options;
  /** The type of the field. */
  type: string;
}

const textOf = (options: Options, name: string): string => {
  const value = options[name];
  return typeof value === 'string' ? value : '';
};

const numberOf = (options: Options, name: string, otherwise: number): number => {
  const value = options[name];
  return typeof value === 'number' ? value : otherwise;
};

/** Returns the text of the choices, or two samples. */
function choiceTexts({ choices }: Options): string[] {
  const texts = (Array.isArray(choices) ? choices : [])
    .filter(isObject)
    .flatMap(({ text, value }) => [text, value].find((each) => typeof each === 'string' && each !== '') ?? [])
    .map(String);
  return texts.length > 0 ? texts : previewWords.choices;
}

const NUMBER_TYPES: ReadonlySet<string> = new Set(['integer', 'bigInteger', 'float', 'decimal']);

const sampleText = (type: string): string =>
  NUMBER_TYPES.has(type) ? '42' : type === 'uuid' ? '6f1e0c1a-52f0-4a8c-9c1b-0d3f6a1b2c3d' : previewWords.text;

const sampleTime = (type: string, { options }: Sample): string => {
  const time = options['includeSeconds'] === true ? '09:30:15' : '09:30';
  return type === 'date' ? '2026-03-14' : type === 'time' ? time : `2026-03-14 ${time}`;
};

const iconOf = (options: Options, name: string): ReactNode =>
  textOf(options, name) === '' ? undefined : <MaterialIcon name={textOf(options, name)} otherwise="" size={18} />;

const Plain = ({ options, type }: Sample) => {
  const placeholder = textOf(options, 'placeholder');
  return (
    <TextInput
      aria-label={previewWords.preview}
      readOnly
      type={options['masked'] === true ? 'password' : 'text'}
      placeholder={placeholder}
      value={placeholder === '' ? sampleText(type) : ''}
      leftSection={iconOf(options, 'iconLeft')}
      rightSection={iconOf(options, 'iconRight')}
    />
  );
};

const LongText = ({ options }: Sample) => (
  <Textarea aria-label={previewWords.preview} readOnly rows={2} placeholder={textOf(options, 'placeholder')} />
);

const Dropdown = ({ options }: Sample) => (
  <NativeSelect
    aria-label={previewWords.preview}
    data={[...(options['allowNone'] === true ? ['—'] : []), ...choiceTexts(options)]}
    leftSection={iconOf(options, 'icon')}
  />
);

const Several = ({ options }: Sample) => (
  <Stack gap={6}>
    {choiceTexts(options).map((text, index) => (
      <Checkbox key={text} label={text} checked={index === 0} readOnly />
    ))}
  </Stack>
);

/** How the form of an item presents the field, by interface. */
const INTERFACES: Readonly<Record<string, (sample: Sample) => ReactElement>> = {
  input: Plain,
  'input-hash': Plain,
  'input-autocomplete-api': Plain,
  'input-multiline': LongText,
  'input-rich-text-html': LongText,
  'input-rich-text-md': LongText,
  'input-code': LongText,
  boolean: ({ options }) => <Checkbox readOnly checked label={textOf(options, 'label') || previewWords.enabled} />,
  datetime: (sample) => (
    <TextInput aria-label={previewWords.preview} readOnly value={sampleTime(sample.type, sample)} />
  ),
  numeric: ({ options }) => (
    <NumberInput aria-label={previewWords.preview} readOnly value={42} placeholder={textOf(options, 'placeholder')} />
  ),
  slider: ({ options }) => {
    const [min, max] = [numberOf(options, 'minValue', 0), numberOf(options, 'maxValue', 100)];
    return (
      <Slider
        thumbLabel={previewWords.preview}
        min={min}
        max={max}
        step={numberOf(options, 'stepInterval', 1)}
        value={(min + max) / 2}
        labelAlwaysOn={options['alwaysShowValue'] === true}
      />
    );
  },
  tags: ({ options: { presets } }) => (
    <Group gap={6}>
      {(Array.isArray(presets) && presets.length > 0 ? presets.map(String) : previewWords.tags).map((tag) => (
        <Chip key={tag} size="xs" checked={false}>
          {tag}
        </Chip>
      ))}
    </Group>
  ),
  'select-dropdown': Dropdown,
  'select-multiple-dropdown': Dropdown,
  'select-multiple-checkbox': Several,
  'select-radio': ({ options }) => (
    <Stack gap={6}>
      {choiceTexts(options).map((text, index) => (
        <Radio key={text} label={text} checked={index === 0} readOnly />
      ))}
    </Stack>
  ),
  'presentation-divider': ({ options }) => (
    <Divider
      label={textOf(options, 'title') || previewWords.title}
      labelPosition="left"
      color={textOf(options, 'color') || 'gray'}
    />
  ),
  'presentation-notice': ({ options }) => <Alert>{textOf(options, 'text') || previewWords.notice}</Alert>,
};

const Formatted = ({ options, type }: Sample) => (
  <Text
    size="sm"
    component="span"
    fw={options['bold'] === true ? 700 : undefined}
    fs={options['italic'] === true ? 'italic' : undefined}
    style={{ color: textOf(options, 'color') || undefined, background: textOf(options, 'background') || undefined }}
  >
    {textOf(options, 'prefix')}
    {options['masked'] === true ? '••••••' : sampleText(type)}
    {textOf(options, 'suffix')}
  </Text>
);

/** How a list of items presents a value of the field, by display. */
const DISPLAYS: Readonly<Record<string, (sample: Sample) => ReactElement>> = {
  raw: ({ type }) => <Text size="sm">{sampleText(type)}</Text>,
  'formatted-value': Formatted,
  boolean: ({ options }) => (
    <Text size="sm">
      {textOf(options, 'labelOn') || previewWords.yes}, {textOf(options, 'labelOff') || previewWords.no}
    </Text>
  ),
  datetime: (sample) => (
    <Text size="sm">{sample.options['relative'] === true ? previewWords.ago : sampleTime(sample.type, sample)}</Text>
  ),
  labels: ({ options }) => (
    <Group gap={6}>
      {choiceTexts(options).map((text) => (
        <Badge key={text} variant="default" tt="none">
          {text}
        </Badge>
      ))}
    </Group>
  ),
  rating: ({ options }) => <Text size="sm">{options['simple'] === true ? '4' : '★★★★☆'}</Text>,
};

interface FieldPreviewProps {
  /** The name of the interface or the display. */
  chosen: string | null;
  kind: 'interface' | 'display';
  options: unknown;
}

/** Renders nothing for an interface without a preview. The user cannot operate the preview. */
function FieldPreview({ chosen, kind, options }: FieldPreviewProps) {
  const type = useWatch({ name: 'type' }) as string;
  const Preview = (kind === 'interface' ? INTERFACES : DISPLAYS)[chosen ?? ''];
  if (Preview === undefined) return null;
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {kind === 'interface' ? previewWords.inForm : previewWords.inList}
      </Text>
      <div className={classes.preview} inert data-testid={`${kind}-preview`}>
        <Preview options={isObject(options) ? options : {}} type={type} />
      </div>
    </div>
  );
}
