import { Badge } from '@mantine/core';
import type { Mark } from './drafted.js';

const LOOKS = {
  made: { color: 'teal', label: 'new' },
  changed: { color: 'orange', label: 'changed' },
  renamed: { color: 'orange', label: 'renamed' },
  removed: { color: 'red', label: 'deleted' },
} as const;

/** Renders nothing without a draft change. */
export function MarkBadge({ how }: { how: Mark | undefined }) {
  if (how === undefined) return null;
  const { color, label } = LOOKS[how];
  return (
    <Badge size="sm" variant="light" color={color} tt="none" title="In your draft">
      {label}
    </Badge>
  );
}
