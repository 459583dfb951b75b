/** What becomes of a change request at another time: applied then, brought up to the schema as it is now, taken back. */
import { Group, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { revert } from '../../service/proposal-queries.js';
import type { ChangeRequest } from '../../service/types.js';
import { useRole } from '../../service/use-session.js';
import { startOf } from '../local-time.js';
import { ProblemAlert } from '../problem-alert.js';
import { SteadyButton } from '../steady-button.js';
import { Time } from '../time.js';
import { useHere } from '../use-here.js';
import { useAct } from './use-act.js';

interface Props {
  request: ChangeRequest;
}

/** For admins, where its state allows it. */
export function Later({ request }: Props) {
  const { id, allowed, planned = null, scheduled_at: scheduled } = request;
  const isAdmin = useRole() === 'admin';
  const doing = useAct(id);
  if (!isAdmin) return <Scheduled at={scheduled} />;
  const isStale = planned?.fresh === false;
  return (
    <>
      <Scheduled at={scheduled} />
      {allowed.includes('rebase') && isStale && (
        <Group gap="sm">
          <SteadyButton
            variant="default"
            loading={doing.isPending}
            onClick={() => doing.mutate({ action: 'rebase', json: {} })}
          >
            Bring it up to the schema as it is now
          </SteadyButton>
        </Group>
      )}
      {allowed.includes('apply') && !isStale && (
        <AtTime isBusy={doing.isPending} onChoose={(at) => doing.mutate({ action: 'apply', json: { at } })} />
      )}
      {doing.error !== null && <ProblemAlert error={doing.error} />}
    </>
  );
}

function Scheduled({ at }: { at: string | null }) {
  if (at === null) return null;
  return (
    <Text size="sm">
      It is applied <Time at={at} />, if it is still as it was approved then.
    </Text>
  );
}

function AtTime({ isBusy, onChoose }: { isBusy: boolean; onChoose: (at: string) => void }) {
  const [local, setLocal] = useState('');
  const at = startOf(local);
  return (
    <Group gap="sm" align="flex-end">
      <TextInput
        type="datetime-local"
        size="sm"
        label="Apply it at"
        value={local}
        onChange={(event) => setLocal(event.currentTarget.value)}
      />
      <SteadyButton
        variant="default"
        disabled={at === null}
        loading={isBusy}
        onClick={() => at !== null && onChoose(at)}
      >
        Schedule
      </SteadyButton>
    </Group>
  );
}

/** Opens another request, and leads there. */
export function Revert({ request: { id, allowed } }: Props) {
  const isAdmin = useRole() === 'admin';
  const navigate = useNavigate();
  const isHere = useHere();
  const reverting = useMutation({
    mutationFn: () => revert(id),
    onSuccess: ({ id: change }) => (isHere() ? navigate({ to: '/review', search: { change } }) : undefined),
  });
  if (!isAdmin || !allowed.includes('revert')) return null;
  return (
    <>
      <SteadyButton variant="default" loading={reverting.isPending} onClick={() => reverting.mutate()}>
        Propose to take it back
      </SteadyButton>
      {reverting.error !== null && <ProblemAlert error={reverting.error} />}
    </>
  );
}
