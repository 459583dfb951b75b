/** Findings that the policy blocks, with a checkbox for those that a person can acknowledge. */
import { Checkbox, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Finding } from '../../../service/types.js';
import type { Stop } from '../model/policy.js';
import type { Review } from '../use-review.js';
import classes from './parts.module.css';

interface StoppedProps {
  review: Review;
  /** Renders a finding. */
  children: (finding: Finding) => ReactNode;
}

/** The maximum number shown. */
const MOST = 100;

/**
 * Renders nothing if nothing is blocked. Shows a hundred, those without acknowledgement first, and counts the rest.
 */
export function Stopped({ review: { stops, acknowledge }, children }: StoppedProps) {
  if (stops.length === 0) return null;
  return (
    <section className={classes.section} data-tone="bad">
      <h2>Blocked by the policy</h2>
      <ul className={classes.notes}>
        {stops.slice(0, MOST).map((stop) => (
          <li key={stop.key}>
            {children(stop.finding)}
            <Verdict stop={stop} onKnown={(isKnown) => acknowledge(stop.key, isKnown)} />
          </li>
        ))}
      </ul>
      {stops.length > MOST && (
        <Text size="xs" c="dimmed">
          and {(stops.length - MOST).toLocaleString()} more
        </Text>
      )}
    </section>
  );
}

function Verdict({ stop, onKnown }: { stop: Stop; onKnown: (isKnown: boolean) => void }) {
  const { finding, canBeKnown, isKnown, key } = stop;
  if (canBeKnown)
    return (
      <Checkbox
        mt={6}
        size="xs"
        label="Acknowledge"
        aria-label={`Acknowledge ${key}`}
        checked={isKnown}
        onChange={(event) => onKnown(event.currentTarget.checked)}
      />
    );
  return (
    <Text size="xs" fw={600} mt={4}>
      {finding.action === 'approve'
        ? 'The policy requires approval. Propose a change request.'
        : 'The policy rejects it.'}
    </Text>
  );
}
