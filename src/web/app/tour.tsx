/** The first steps: shown below the page at the first sign-in of a user in this browser. */
import { Anchor, Button, CloseButton, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRole } from '../service/session.js';
import { MAY, type Role } from '../service/types.js';
import { storeValue, useStored } from '../shared/use-stored.js';
import classes from './tour.module.css';

interface Step {
  title: string;
  text: string;
  to: '/' | '/new' | '/review' | '/timeline' | '/docs';
  /** Absent for all roles. */
  roles?: readonly Role[];
}

const STEPS: readonly Step[] = [
  {
    title: 'Schema',
    text: 'The tree and the diagram show your collections. Ctrl K or ⌘K searches everything.',
    to: '/',
  },
  {
    title: 'Draft',
    text: 'Create a collection, or open one and edit it. Your edits are a draft that only you see.',
    to: '/new',
    roles: MAY.propose,
  },
  {
    title: 'Review',
    text: 'Before a change is applied, its review shows the SQL, locks and data loss. Change requests wait here.',
    to: '/review',
    roles: MAY.readRequests,
  },
  {
    title: 'Timeline',
    text: 'Each change has a user, a time and a reason. You can undo it, or go back to any point in time.',
    to: '/timeline',
    roles: MAY.readHistory,
  },
  { title: 'Guides', text: 'The guides answer how to do more. The key ? lists the keyboard shortcuts.', to: '/docs' },
];

const FINISHED = 'finished';

/** The name under which the browser stores the number of the step, or `finished`. */
const STEP = 'tour';

const storeStep = (step: string): void => storeValue(STEP, step);

/** Starts the first steps again. */
export const startTour = (): void => storeStep('0');

/** Renders nothing after the user has finished or closed the tour in this browser. */
export function Tour() {
  const role = useRole();
  const stored = useStored(STEP) ?? '0';
  const steps = STEPS.filter(({ roles }) => roles?.includes(role) !== false);
  const index = Number(stored);
  const step = steps[index];
  if (step === undefined) return null;
  const isLast = index === steps.length - 1;
  return (
    <section className={classes.tour} aria-label="First steps">
      <Text size="sm" className={classes.text} role="status">
        <Text component="span" c="dimmed" inherit>
          {index + 1} of {steps.length}
        </Text>{' '}
        <Anchor inherit fw={600} renderRoot={(props) => <Link {...props} to={step.to} />}>
          {step.title}
        </Anchor>
        : {step.text}
      </Text>
      {index > 0 && (
        <Button size="xs" variant="default" onClick={() => storeStep(String(index - 1))}>
          Previous step
        </Button>
      )}
      <Button size="xs" onClick={() => storeStep(isLast ? FINISHED : String(index + 1))}>
        {isLast ? 'Finish' : 'Next step'}
      </Button>
      <CloseButton size="sm" aria-label="Close the first steps" onClick={() => storeStep(FINISHED)} />
    </section>
  );
}
