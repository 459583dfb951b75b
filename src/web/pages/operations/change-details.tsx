/** One change request: its steps as they go, who is in the way, and giving it up. */
import { Alert, Code, Group, Progress, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { SCHEMA } from '../../service/queries.js';
import { changeQuery, withdraw } from '../../service/review-queries.js';
import type { ChangeRequest } from '../../service/types.js';
import { useRole } from '../../service/use-session.js';
import { counted, durationText } from '../../shared/amounts.js';
import { Answered } from '../../shared/answered.js';
import { ConfirmButton } from '../../shared/confirm-button.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import classes from './page.module.css';

export function ChangeDetails({ id }: { id: string }) {
  return (
    <Answered query={useQuery(changeQuery(id))} label="Reading the change request">
      {(change) => <Details change={change} />}
    </Answered>
  );
}

function Details({ change }: { change: ChangeRequest }) {
  const { steps, waiting_for: waiting, queued_behind: behind, holds, cleaning, warnings, errors } = change;
  return (
    <>
      {steps.map((step) => (
        <Step key={step.key} step={step} />
      ))}
      {behind.length > 0 && (
        <Text size="sm" mt="sm">
          {counted(behind.length, 'other request has', 'other requests have')} its tables; it is next after that.
        </Text>
      )}
      {waiting.length > 0 && <Waiting holders={waiting} />}
      {holds.length > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          No other change is made meanwhile of: {holds.join(', ')}. Rows can be read and written.
        </Text>
      )}
      {warnings.map(({ message }) => (
        <Text size="sm" mt="xs" key={message}>
          {message}
        </Text>
      ))}
      {errors?.map(({ message }) => (
        <Alert color="red" mt="sm" key={message}>
          {message}
        </Alert>
      ))}
      {cleaning && (
        <Text size="sm" mt="sm">
          What was prepared is being taken away …
        </Text>
      )}
      {change.allowed.includes('withdraw') && <Withdraw change={change} />}
    </>
  );
}

type ShownStep = ChangeRequest['steps'][number];

function Step({ step }: { step: ShownStep }) {
  const share = shareOf(step);
  return (
    <div className={classes.step}>
      <Group justify="space-between" gap="xs" mb={6}>
        <Text size="sm" fw={550}>
          {step.summary}
        </Text>
        <Text size="xs" c="dimmed">
          {factsOf(step).join(', ')}
        </Text>
      </Group>
      <Progress
        value={(share ?? 1) * 100}
        animated={step.state === 'running'}
        color={step.state === 'done' ? 'teal' : 'iris'}
        aria-label={step.summary}
      />
    </div>
  );
}

/** 0 to 1; null: it runs, and nobody knows how much of it is done. */
function shareOf({ state, done }: ShownStep): number | null {
  if (state === 'waiting') return 0;
  return state === 'done' ? 1 : done;
}

function factsOf(step: ShownStep): string[] {
  const { state, phase, rows, milliseconds } = step;
  if (state === 'waiting') return ['waits its turn', ...(rows === null ? [] : [`about ${counted(rows, 'row')}`])];
  if (state === 'done') return milliseconds === null ? ['done'] : [`done in ${durationText(milliseconds)}`];
  const share = shareOf(step);
  const facts = [
    share !== null && `${Math.floor(share * 100)} %`,
    phase,
    rows !== null && `about ${counted(rows, 'row')}`,
  ];
  return facts.filter((fact) => typeof fact === 'string');
}

/** Their SQL is shown to nobody. */
function Waiting({ holders }: { holders: ChangeRequest['waiting_for'] }) {
  return (
    <Alert color="orange" mt="sm" title="Somebody's transaction is in the way">
      {holders.map(({ pid, application_name: name, age_seconds: age, collection }) => (
        <Text size="sm" key={`${pid} ${name} ${collection}`}>
          {name === '' ? 'an application without a name' : name}
          {pid === null ? ' (a prepared transaction)' : ` (pid ${pid})`} on <Code>{collection}</Code>
          {age !== null && `, open for ${durationText(age * 1000)}`}
        </Text>
      ))}
    </Alert>
  );
}

function Withdraw({ change: { id, collections } }: { change: ChangeRequest }) {
  const client = useQueryClient();
  const isAdmin = useRole() === 'admin';
  const give = useMutation({
    mutationFn: () => withdraw(id),
    onSettled: () => client.invalidateQueries({ queryKey: [SCHEMA] }),
  });
  if (!isAdmin) return null;
  return (
    <Group justify="flex-end" mt="md">
      {give.error !== null && <ProblemAlert error={give.error} />}
      <ConfirmButton
        size="xs"
        label="Withdraw"
        sure="Yes, give it up"
        about={collections.join(', ')}
        loading={give.isPending}
        onConfirm={() => give.mutate()}
      />
    </Group>
  );
}
