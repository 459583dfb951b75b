/** Why something is done: kept with the events. */
import { TextInput } from '@mantine/core';

interface Props {
  label?: string;
  value: string;
  onChange: (reason: string) => void;
}

/** @param props.value empty: none is given, which is allowed */
export function ReasonInput({ label = 'Why', value, onChange }: Props) {
  return (
    <TextInput
      label={label}
      placeholder="kept with the events"
      maxLength={1000}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
