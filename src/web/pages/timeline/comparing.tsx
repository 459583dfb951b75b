import { Alert, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** @param props.from a position */
export function Comparing({ from, onStop }: { from: number; onStop: () => void }) {
  return (
    <Alert variant="light" color="iris" my="sm" role="status" aria-label="Comparing">
      <Group gap="sm">
        <Text size="sm">Comparing event {from}. Open another change, or</Text>
        <Button component={Link} to="/timeline/compare" search={{ from, to: 'now' } as never} size="xs">
          Compare with the current schema
        </Button>
        <Button size="xs" variant="default" onClick={onStop}>
          Cancel{' '}
        </Button>
      </Group>
    </Alert>
  );
}
