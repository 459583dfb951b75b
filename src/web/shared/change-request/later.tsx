import { Group, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Resolution } from '../../../schema/merge/model.js';
import { revert } from '../../service/proposal-queries.js';
import type { ChangeRequest } from '../../service/types.js';
import { useMay, useMayRevise } from '../../service/use-session.js';
import { startOf } from '../local-time.js';
import { ProblemAlert } from '../problem-alert.js';
import { SteadyButton } from '../steady-button.js';
import { Time } from '../time.js';
import { Merging } from './merging.js';
import { useAttempt } from '../use-attempt.js';
import { useHere } from '../use-still-here.js';
import { useAct } from './use-act.js';

interface Props {
  request: ChangeRequest;
}

/** Depends on its state and the role. */
export function Later({ request }: Props) {
  const { id, allowed, planned = null, scheduled_at: scheduled } = request;
  const mayCarryOut = useMay('carryOut');
  const mayRevise = useMayRevise(request);
  const isStale = planned?.fresh === false;
  return (
    <>
      <Scheduled at={scheduled} />
      {mayRevise && allowed.includes('rebase') && isStale && <Rebase id={id} />}
      {mayCarryOut && allowed.includes('apply') && !isStale && <AtTime id={id} />}
    </>
  );
}

function Scheduled({ at }: { at: string | null }) {
  if (at === null) return null;
  return (
    <Text size="sm">
      The service applies this request <Time at={at} /> if its approvals still count.
    </Text>
  );
}

function Rebase({ id }: { id: string }) {
  const doing = useAct(id);
  return (
    <Merging
      label="Rebase onto the current schema"
      mine="change request"
      isBusy={doing.isPending}
      error={doing.error}
      onTry={(resolve) => doing.mutate({ action: 'rebase', resolve })}
    />
  );
}

function AtTime({ id }: { id: string }) {
  const [local, setLocal] = useState('');
  const doing = useAct(id);
  const at = startOf(local);
  return (
    <>
      <Group gap="sm" align="flex-end">
        <TextInput
          type="datetime-local"
          size="sm"
          label="Apply at"
          value={local}
          onChange={(event) => setLocal(event.currentTarget.value)}
        />
        <SteadyButton
          variant="default"
          disabled={at === null}
          loading={doing.isPending}
          onClick={() => at !== null && doing.mutate({ action: 'apply', json: { at } })}
        >
          Schedule
        </SteadyButton>
      </Group>
      {doing.error !== null && <ProblemAlert error={doing.error} />}
    </>
  );
}

/** Opens a reverting request and shows it. */
export function Revert({ request: { id, allowed } }: Props) {
  const mayPropose = useMay('propose');
  const navigate = useNavigate();
  const isHere = useHere();
  const { keyFor, end } = useAttempt();
  const reverting = useMutation({
    mutationFn: (resolutions: readonly Resolution[]) =>
      revert(id, resolutions, (resolve) => keyFor(JSON.stringify(resolve))),
    onSuccess: ({ id: change }) => (isHere() ? navigate({ to: '/review', search: { change } }) : undefined),
    onSettled: (_, error) => end(error),
  });
  if (!mayPropose || !allowed.includes('revert')) return null;
  return (
    <Merging
      label="Propose a revert"
      mine="previous state"
      isBusy={reverting.isPending}
      error={reverting.error}
      onTry={(resolve) => reverting.mutate(resolve)}
    />
  );
}
