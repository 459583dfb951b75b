/** The inputs for the options of an interface or a display. */
import { Fieldset, Input, Stack, Switch } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useWatch } from 'react-hook-form';
import { isObject } from '../../kernel/json.js';
import type { InputKind } from '../../schema/model/model.js';
import { FieldPreview } from './field-preview.js';
import type { InterfaceDescription, InterfaceOption } from './interfaces.js';
import type { Member } from './members.js';
import { RowsInput } from './rows-input.js';

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
        label="Edit as JSON"
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
        { member: 'value', label: `Value ${index + 1}`, placeholder: 'Value', value: shownValue(choice.value) },
        { member: 'text', label: `Text ${index + 1}`, placeholder: 'Text', value: choice.text },
      ]}
      added={{ text: '', value: '', more: {} }}
      addLabel="Add a choice"
      removeLabelOf={(_choice, index) => `Remove choice ${index + 1}`}
    />
  );
}
