/** The reason of a change, which is stored with its events. */
import { TextInput } from '@mantine/core';

interface Props {
  label?: string;
  value: string;
  onChange: (reason: string) => void;
}

/** @param props.value may be empty */
export function ReasonInput({ label = 'Reason', value, onChange }: Props) {
  return (
    <TextInput
      label={label}
      placeholder="Recorded with the change"
      maxLength={1000}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
