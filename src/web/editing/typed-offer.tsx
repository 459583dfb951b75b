import { Alert, Button, Group, Text } from '@mantine/core';
import type { TypedMember } from './typed.js';

interface Props {
  offered: readonly TypedMember[];
  onTakeUp: () => void;
  onForget: () => void;
}

/** Renders nothing without an offer. Names the members but not their values. */
export function TypedOffer({ offered, onTakeUp, onForget }: Props) {
  if (offered.length === 0) return null;
  const names = offered.map(({ path }) => path.at(-1)).join(', ');
  return (
    <Alert variant="light" role="status" title="You have unsaved input from an earlier visit">
      <Text size="sm" mb="sm">
        {names}
      </Text>
      <Group gap="xs">
        <Button size="xs" onClick={onTakeUp}>
          Restore input
        </Button>
        <Button size="xs" variant="default" onClick={onForget}>
          Discard input
        </Button>
      </Group>
    </Alert>
  );
}
