/** The reason of a change, which is stored with its events. */
import { TextInput } from '@mantine/core';

interface Props {
  label?: string;
  value: string;
  onChange: (reason: string) => void;
}

/** @param props.value may be empty */
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
