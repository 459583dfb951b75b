/** The reason, and the buttons to apply or propose. */
import { Button, Group, Popover, Stack, Switch, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { UnreachableError } from '../../../service/errors.js';
import { useMay } from '../../../service/use-session.js';
import { ConfirmButton } from '../../../shared/confirm-button.js';
import { counted } from '../../../shared/amounts.js';
import { deletedCollections } from '../model/items.js';
import { lossesOf } from '../model/plan.js';
import { LONGEST_REASON } from '../model/reason.js';
import type { Review } from '../use-review.js';
import { ExportMenu } from './export-menu.js';
import { Propose } from './propose.js';
import { Verdict } from './verdict.js';
import { SteadyButton } from '../../../shared/steady-button.js';
import classes from './parts.module.css';

interface Props {
  review: Review;
  /** Why it cannot be applied now. */
  held: string | null;
}

/**
 * For users who may propose; dry runs and applying are for admins. Data loss needs a second confirmation that lists
 * it.
 */
export function ActionBar({ review, held }: Props) {
  const { why, setReason, isReasonTyped, carryOut, carriedOut } = review;
  const mayCarryOut = useMay('carryOut');
  const isNothing = carriedOut.length === 0;
  return (
    <section className={classes.bar} aria-label="Apply changes">
      <TextInput
        className={classes.reason}
        aria-label="Reason"
        placeholder="Reason, recorded with the change"
        maxLength={LONGEST_REASON}
        value={why}
        onChange={(event) => setReason(event.currentTarget.value)}
        {...(isReasonTyped && {
          rightSectionWidth: 72,
          rightSection: (
            <Button variant="subtle" color="gray" size="compact-xs" onClick={() => setReason(null)}>
              Suggest{' '}
            </Button>
          ),
        })}
      />
      <Group gap="xs" wrap="nowrap" className={classes.actions}>
        <ExportMenu review={review} />
        <Options review={review} />
        {mayCarryOut && <DryRun review={review} isHeld={isNothing || held !== null} />}
        <Propose review={review} isHeld={isNothing || held !== null} />
        {mayCarryOut && (
          <Apply
            review={review}
            isHeld={isNothing || (held !== null && !(carryOut.error instanceof UnreachableError))}
          />
        )}
      </Group>
      <Verdict review={review} held={held} />
    </section>
  );
}

function DryRun({ review: { rehearsal, carryOut }, isHeld }: { review: Review; isHeld: boolean }) {
  return (
    <SteadyButton
      variant="default"
      loading={rehearsal.isPending}
      disabled={isHeld}
      onClick={() => {
        carryOut.reset();
        rehearsal.mutate();
      }}
    >
      Dry run
    </SteadyButton>
  );
}

function Apply({ review, isHeld }: { review: Review; isHeld: boolean }) {
  const { plan, isPlanning, carryOut, carriedOut, rehearsal, options, stops } = review;
  const losses = useMemo(() => (plan === undefined ? [] : lossesOf(plan)), [plan]);
  const apply = () => {
    rehearsal.reset();
    carryOut.mutate();
  };
  // Data loss is shown before it can be applied.
  const isDisabled = isHeld || isPlanning || stops.some(({ isKnown }) => !isKnown);
  const deleted = deletedCollections(carriedOut).length;
  const action = options.online ? 'Prepare and apply' : 'Apply';
  const label = deleted === 0 ? action : `${action}: delete ${counted(deleted, 'collection')}`;
  return (
    <ConfirmButton
      variant="filled"
      label={label}
      sure={
        losses.length === 0
          ? null
          : `Delete data: ${lossText(losses.map(({ collection, field }) => field ?? collection))}`
      }
      loading={carryOut.isPending}
      disabled={isDisabled}
      onConfirm={apply}
    />
  );
}

const lossText = (names: readonly string[]): string => {
  const [first = ''] = names;
  const name = Array.from(first).length > 18 ? `${Array.from(first).slice(0, 17).join('')}…` : first;
  return names.length === 1 ? name : `${names.length} objects`;
};

function Options({ review: { options } }: { review: Review }) {
  const { online, setOnline, purge, setPurge } = options;
  const count = Number(online) + Number(purge);
  return (
    <Popover position="top-end" shadow="md" width={320} withinPortal={false} trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default">Options{count > 0 ? ` (${count})` : ''}</Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Options">
        <Stack gap="md">
          <Switch
            size="sm"
            label="Online (keeps tables available)"
            description="The service prepares long operations in the background. You can withdraw the change until it is applied."
            checked={online}
            onChange={(event) => setOnline(event.currentTarget.checked)}
          />
          <Switch
            size="sm"
            label="Delete permanently (skip the trash)"
            description="Deleted data is dropped immediately and cannot be restored."
            checked={purge}
            onChange={(event) => setPurge(event.currentTarget.checked)}
          />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
