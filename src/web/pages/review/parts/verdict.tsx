/** The result of the last dry run, and why another is not possible. */
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { UnreachableError } from '../../../service/errors.js';
import { brief } from '../../../shared/brief.js';
import type { Review } from '../use-review.js';
import classes from './parts.module.css';

interface Props {
  review: Review;
  held: string | null;
}

/**
 * Empty without a dry run or obstacle.
 * @param props.held why it cannot be applied now; null if it can
 */
export function Verdict({ review, held }: Props) {
  const { carriedOut, isPlanning, plan } = review;
  return (
    <div className={classes.verdict} role="status">
      {carriedOut.length === 0 && <Text size="sm">No change is selected.</Text>}
      {held !== null && <Text size="sm">{held}</Text>}
      {isPlanning && plan !== undefined && <Text size="sm">Planning …</Text>}
      {held === null && <ByPolicy review={review} />}
      {held === null && <Planned review={review} />}
      <Refused review={review} />
      <NoAnswer review={review} />
    </div>
  );
}

function ByPolicy({ review: { stops } }: { review: Review }) {
  const left = stops.filter(({ isKnown }) => !isKnown);
  if (left.length === 0) return null;
  const isRefused = left.some(({ canBeKnown }) => !canBeKnown);
  const what = left.length === 1 ? '1 finding' : `${left.length} findings`;
  return (
    <Text size="sm" className={classes.badText}>
      {isRefused
        ? `The policy blocks this change because of ${what}. See “Blocked by the policy”.`
        : `Acknowledge ${what} before you apply. See “Blocked by the policy”.`}
    </Text>
  );
}

/** Longer messages are shown with the steps of the request. */
const LONGEST = 400;

function Planned({ review: { plan, isRehearsed } }: { review: Review }) {
  if (plan === undefined) return null;
  if (plan.online !== undefined) {
    const steps = plan.online.steps.map(({ summary }) => summary).join('; ');
    return <Text size="sm">The service first prepares: {brief(steps, LONGEST)}.</Text>;
  }
  if (!isRehearsed || plan.accepted !== true) return null;
  return (
    <Text size="sm" className={classes.good}>
      The dry run succeeded. Nothing was changed.
    </Text>
  );
}

function Refused({ review: { problems } }: { review: Review }) {
  const { at, elsewhere } = problems;
  return (
    <>
      {at.size > 0 && (
        <Bad>{at.size === 1 ? '1 change was' : `${at.size} changes were`} rejected. See the error at each change.</Bad>
      )}
      {elsewhere.map(({ message }) => (
        <Bad key={message}>{message}</Bad>
      ))}
    </>
  );
}

function NoAnswer({ review: { carryOut, rehearsal, planError } }: { review: Review }) {
  const error = carryOut.error ?? rehearsal.error ?? planError;
  if (!(error instanceof UnreachableError)) return null;
  return (
    <Bad>
      {error.message}{' '}
      {carryOut.error !== null &&
        'Apply again. The service applies the change only once, even if this attempt succeeded.'}
    </Bad>
  );
}

const Bad = ({ children }: { children: ReactNode }) => (
  <Text size="sm" className={classes.badText} role="alert">
    {children}
  </Text>
);
