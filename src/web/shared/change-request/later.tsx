import { Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Resolution, MergeConflict } from '../../../schema/merge/model.js';
import { revert, type RequestAction, type RevertInput, sendAction, permitPurge } from '../../service/change-queries.js';
import type { ChangeRequest, Problem } from '../../service/types.js';
import { useMay, useMayRevise } from '../../service/session.js';
import { useLacksReason } from '../form.js';
import { Time } from '../time.js';
import { startOf } from '../text.js';
import { ProblemAlert, PurgeOffer } from '../problem-alert.js';
import { SteadyButton } from '../buttons.js';
import { useAttempt } from '../use-attempt.js';
import { useHere } from '../focus.js';
import { CHANGE, SCHEMA } from '../../service/queries.js';
import { ServiceError, ConnectionError } from '../../service/send.js';
import { Decide, conflictsIn } from '../conflicts/decide.js';
import { messages } from '../messages.js';

const words = messages.changeRequest;

/* Actions on a change request, which invalidate everything they may change. */

/**
 * If there was no response, a retry takes effect only once.
 * @param id the id of the change request
 */
export function useAct(id: string) {
  const client = useQueryClient();
  const { keyFor, end } = useAttempt();
  return useMutation({
    mutationFn: (what: RequestAction) => sendAction(id, what, (sent) => keyFor(JSON.stringify([what.action, sent]))),
    onSettled: async (_, error) => {
      end(error);
      await client.invalidateQueries({ queryKey: [CHANGE, id] });
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      await client.invalidateQueries({ queryKey: ['info'] });
    },
  });
}

/**
 * Offers the user the option that the service requires.
 * @param props.onPermitted called when the request has it
 */
export function PermitPurge({
  request,
  problems,
  onPermitted,
}: {
  request: ChangeRequest;
  problems: readonly Problem[];
  onPermitted?: () => void;
}) {
  const { id, allowed } = request;
  const client = useQueryClient();
  const mayRevise = useMayRevise(request);
  const permitting = useMutation({
    mutationFn: () => permitPurge(id),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: [CHANGE, id] });
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      onPermitted?.();
    },
  });
  if (!mayRevise || !allowed.includes('update')) return null;
  return (
    <>
      <PurgeOffer problems={problems} isBusy={permitting.isPending} onAccept={() => permitting.mutate()} />
      {permitting.error !== null && <ProblemAlert error={permitting.error} />}
    </>
  );
}

/** Shows the error of an action on a request, and what the user can do about it. */
export function ActError({ request, doing }: { request: ChangeRequest; doing: ReturnType<typeof useAct> }) {
  const { error } = doing;
  if (error === null) return null;
  return (
    <>
      <ProblemAlert error={error} />
      <PermitPurge
        request={request}
        problems={error instanceof ServiceError ? error.problems : []}
        onPermitted={doing.reset}
      />
    </>
  );
}

/* Merges onto the current schema: tries, and lets the user resolve conflicts. */

interface Props {
  label: string;
  mine: 'change request' | 'previous state';
  isBusy: boolean;
  error: Error | null;
  onTry: (resolutions: readonly Resolution[]) => void;
}

const NOTHING: readonly Resolution[] = [];

/**
 * Shows a button. Conflicts in `error` replace it until all are resolved.
 * @param props.onTry called with all resolutions so far. Empty for the first attempt
 */
function Merging({ label, mine, isBusy, error, onTry }: Props) {
  const [before, setBefore] = useState(NOTHING);
  const conflicts = useLastConflicts(error);
  const attempt = (resolutions: readonly Resolution[]) => {
    setBefore(resolutions);
    onTry(resolutions);
  };
  if (conflicts !== null)
    return (
      <>
        <Decide
          // Earlier choices do not apply to these conflicts.
          key={conflicts.map(({ message }) => message).join('\n')}
          conflicts={conflicts}
          before={before}
          mine={mine}
          isBusy={isBusy}
          onDecided={attempt}
        />
        {error instanceof ConnectionError && !isBusy && <ProblemAlert error={error} />}
      </>
    );
  return (
    <>
      <SteadyButton variant="default" loading={isBusy} onClick={() => attempt(NOTHING)} w="fit-content">
        {label}
      </SteadyButton>
      {error !== null && <ProblemAlert error={error} />}
    </>
  );
}

/** Keeps showing conflicts while resolutions are tried. */
function useLastConflicts(error: Error | null): readonly MergeConflict[] | null {
  const [met, setMet] = useState<{ error: Error; conflicts: readonly MergeConflict[] | null } | null>(null);
  if (error !== null && error !== met?.error) {
    // Without a response, the resolutions are sent again.
    const conflicts = error instanceof ConnectionError ? (met?.conflicts ?? null) : conflictsIn(error);
    setMet({ error, conflicts });
  }
  return met?.conflicts ?? null;
}

interface ScheduleProps {
  request: ChangeRequest;
}

/** Offers the actions that the state of the request and the role of the user allow. */
export function Later({ request }: ScheduleProps) {
  const { id, allowed, planned = null, scheduled_at: scheduled } = request;
  const mayCarryOut = useMay('carryOut');
  const mayRevise = useMayRevise(request);
  const isStale = planned?.fresh === false;
  return (
    <>
      <Scheduled at={scheduled} />
      {mayRevise && allowed.includes('rebase') && isStale && <Rebase id={id} />}
      {mayCarryOut && allowed.includes('apply') && !isStale && <AtTime request={request} />}
    </>
  );
}

function Scheduled({ at }: { at: string | null }) {
  if (at === null) return null;
  return <Text size="sm">{words.appliesAt(<Time at={at} />)}</Text>;
}

function Rebase({ id }: { id: string }) {
  const doing = useAct(id);
  return (
    <Merging
      label={words.rebase}
      mine="change request"
      isBusy={doing.isPending}
      error={doing.error}
      onTry={(resolve) => doing.mutate({ action: 'rebase', resolve })}
    />
  );
}

function AtTime({ request }: ScheduleProps) {
  const [local, setLocal] = useState('');
  const doing = useAct(request.id);
  const lacksReason = useLacksReason(request.reason);
  const at = startOf(local);
  return (
    <>
      <Group gap="sm" align="flex-end">
        <TextInput
          type="datetime-local"
          size="sm"
          label={words.applyAt}
          value={local}
          onChange={(event) => setLocal(event.currentTarget.value)}
        />
        <SteadyButton
          variant="default"
          disabled={at === null || lacksReason}
          loading={doing.isPending}
          onClick={() => at !== null && doing.mutate({ action: 'apply', json: { at } })}
        >
          {words.schedule}
        </SteadyButton>
      </Group>
      <ActError request={request} doing={doing} />
    </>
  );
}

/** Opens a reverting request and shows it. */
export function Revert({ request: { id, allowed } }: ScheduleProps) {
  const mayPropose = useMay('propose');
  const navigate = useNavigate();
  const isHere = useHere();
  const { keyFor, end } = useAttempt();
  const reverting = useMutation({
    mutationFn: (input: RevertInput) => revert(id, input, (sent) => keyFor(JSON.stringify(sent))),
    onSuccess: ({ id: change }) => (isHere() ? navigate({ to: '/review', search: { change } }) : undefined),
    onSettled: (_, error) => end(error),
  });
  const { error, isPending, variables = { resolve: NOTHING, purge: false }, mutate } = reverting;
  if (!mayPropose || !allowed.includes('revert')) return null;
  return (
    <>
      <Merging
        label={words.proposeRevert}
        mine="previous state"
        isBusy={isPending}
        error={error}
        onTry={(resolve) => mutate({ ...variables, resolve })}
      />
      <PurgeOffer
        problems={error instanceof ServiceError ? error.problems : []}
        isBusy={isPending}
        onAccept={() => mutate({ ...variables, purge: true })}
      />
    </>
  );
}
