/** The inputs for the options of an interface or a display. */
import addIcon from 'icon:add';
import removeIcon from 'icon:delete';
import { ActionIcon, Button, Fieldset, Group, Input, Stack, Switch, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useWatch } from 'react-hook-form';
import { isObject } from '../../kernel/json.js';
import type { InputKind } from '../../schema/model/model.js';
import { Glyph } from '../shared/glyph.js';
import { FieldPreview } from './field-preview.js';
import type { InterfaceDescription, InterfaceOption } from './interfaces.js';
import type { Member } from './members.js';

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
  const set = (name: string, next: unknown) => {
    const { [name]: _former, ...others } = values;
    const all = next === null || next === false ? others : { ...others, [name]: next };
    onChange(Object.keys(all).length === 0 ? null : all);
  };
  return (
    <>
      {options.map((option) => {
        const input = { value: values[option.name], onChange: (next: unknown) => set(option.name, next) };
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

/** A choice with its members other than `text` and `value`, for example its color. */
interface Choice {
  text: string;
  value: string;
  more: object;
}

function choicesOf(value: unknown): Choice[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map(({ text, value: each, ...more }) => ({
    text: typeof text === 'string' ? text : '',
    value: each == null ? '' : typeof each === 'string' ? each : JSON.stringify(each),
    more,
  }));
}

/** The input of choices. The value is null without choices. */
function ChoicesInput({ label, value, onChange }: { label: string } & Pick<OptionInputProps, 'value' | 'onChange'>) {
  const choices = choicesOf(value);
  const put = (next: Choice[]) =>
    onChange(next.length === 0 ? null : next.map(({ text, value: each, more }) => ({ text, value: each, ...more })));
  const change = (index: number, changed: Partial<Choice>) =>
    put(choices.map((each, at) => (at === index ? { ...each, ...changed } : each)));
  return (
    <Input.Wrapper label={label} labelElement="div">
      <Stack gap="xs" mt={4} role="group" aria-label={label}>
        {choices.map((choice, index) => (
          // While choices are typed, they have no name that could be used as the key.
          // oxlint-disable-next-line react/no-array-index-key
          <Group key={index} gap="xs" wrap="nowrap">
            <TextInput
              aria-label={`Value ${index + 1}`}
              placeholder="Value"
              flex={1}
              miw={0}
              value={choice.value}
              onChange={(event) => change(index, { value: event.currentTarget.value })}
            />
            <TextInput
              aria-label={`Text ${index + 1}`}
              placeholder="Text"
              flex={1}
              miw={0}
              value={choice.text}
              onChange={(event) => change(index, { text: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove choice ${index + 1}`}
              onClick={() => put(choices.filter((_, at) => at !== index))}
            >
              <Glyph path={removeIcon} size={18} />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          leftSection={<Glyph path={addIcon} size={16} />}
          onClick={() => put([...choices, { text: '', value: '', more: {} }])}
        >
          Add a choice
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}
