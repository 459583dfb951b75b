/** Links from a change: the schema at that time, a revert, and a comparison. */
import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Batch } from '../../service/types.js';
import { useMay } from '../../service/use-session.js';

interface Props {
  batch: Batch;
  /** The position selected for a comparison. */
  from: number | undefined;
  onFrom: (position: number) => void;
}

/**
 * Reverting is for admins. Compared positions are sorted.
 * @param props.onFrom called with the position of this change to select it
 */
export function Ways({ batch: { last_position: position }, from, onFrom }: Props) {
  const mayGoBack = useMay('carryOut');
  return (
    <Group gap="xs" mb="md">
      <Button component={Link} to="/" search={{ at: position } as never} size="xs" variant="default">
        Show schema
      </Button>
      {from === undefined || from === position ? (
        <Button size="xs" variant="default" disabled={from === position} onClick={() => onFrom(position)}>
          {from === position ? 'Choose another change' : 'Compare'}
        </Button>
      ) : (
        <Button
          component={Link}
          to="/timeline/compare"
          search={inOrder(from, position) as never}
          size="xs"
          variant="default"
        >
          Compare with event {from}
        </Button>
      )}
      {mayGoBack && (
        <Button component={Link} to="/review" search={{ to: position } as never} size="xs" variant="default">
          Go back to this point
        </Button>
      )}
    </Group>
  );
}

const inOrder = (one: number, other: number) => ({ from: Math.min(one, other), to: Math.max(one, other) });
