import { Alert, Code, Group, Progress as Bar, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CHANGE, SCHEMA } from '../../service/queries.js';
import { withdraw } from '../../service/review-queries.js';
import type { ChangeRequest } from '../../service/types.js';
import { useMayRevise } from '../../service/session.js';
import { durationText, sizeText } from '../text.js';
import { Caution } from '../form.js';
import { ConfirmButton } from '../buttons.js';
import { ProblemAlert } from '../problem-alert.js';
import { PermitPurge } from './later.js';
import { messages } from '../messages.js';
import classes from './progress.module.css';

const words = messages.changeRequest;

/** `words` follow "This request". */
export const STATES = {
  open: { color: 'iris', ...words.states.open },
  approved: { color: 'teal', ...words.states.approved },
  rejected: { color: 'red', ...words.states.rejected },
  scheduled: { color: 'teal', ...words.states.scheduled },
  queued: { color: 'gray', ...words.states.queued },
  preparing: { color: 'iris', ...words.states.preparing },
  prepared: { color: 'iris', ...words.states.prepared },
  applied: { color: 'teal', ...words.states.applied },
  failed: { color: 'red', ...words.states.failed },
  withdrawn: { color: 'gray', ...words.states.withdrawn },
} as const;

/** Shows the steps and what blocks them. Empty parts are omitted. */
export function Progress({ request }: { request: ChangeRequest }) {
  const { steps, waiting_for: waiting, queued_behind: behind, holds, cleaning, warnings, errors } = request;
  return (
    <div>
      <ol className={classes.steps}>
        {steps.map((step) => (
          <Step key={step.key} step={step} />
        ))}
      </ol>
      {behind.map((id) => (
        <Text size="sm" mt="sm" key={id}>
          {words.waitsFor((label) => (
            <Link to="/review" search={{ change: id }}>
              {label}
            </Link>
          ))}
        </Text>
      ))}
      {waiting.length > 0 && <Waiting holders={waiting} />}
      {holds.length > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          {words.paused(holds.join(', '))}
        </Text>
      )}
      {warnings.map(({ code, message }) => (
        <Text size="sm" mt="xs" key={`${code} ${message}`}>
          {message}
        </Text>
      ))}
      {errors?.map(({ message }) => (
        <Alert color="red" mt="sm" role="alert" key={message}>
          {message}
        </Alert>
      ))}
      {errors != null && <PermitPurge request={request} problems={errors} />}
      {cleaning && (
        <Text size="sm" mt="sm">
          {words.cleaningUp}
        </Text>
      )}
    </div>
  );
}

type ShownStep = ChangeRequest['steps'][number];

function Step({ step }: { step: ShownStep }) {
  const share = shareOf(step);
  return (
    <li className={classes.step}>
      <Group justify="space-between" gap="xs" mb={6}>
        <Text size="sm" fw={550}>
          {step.summary}
        </Text>
        <Text size="xs" c="dimmed">
          {factsOf(step).join(', ')}
        </Text>
      </Group>
      <Bar
        value={(share ?? 1) * 100}
        animated={step.state === 'running'}
        color={step.state === 'done' ? 'teal' : 'iris'}
        aria-label={step.summary}
      />
    </li>
  );
}

/** Returns the completed share from 0 to 1. Null if the step is running and its progress is unknown. */
function shareOf({ state, done }: ShownStep): number | null {
  if (state === 'waiting') return 0;
  return state === 'done' ? 1 : done;
}

function factsOf(step: ShownStep): string[] {
  const { state, phase, milliseconds } = step;
  if (state === 'done') return milliseconds === null ? [words.done] : [words.doneIn(durationText(milliseconds))];
  const share = shareOf(step);
  const far = state === 'waiting' ? [words.waiting] : [share !== null && `${Math.floor(share * 100)} %`, phase];
  return [...far, sizeText(step)].filter((fact) => typeof fact === 'string');
}

/** Shows the sessions that hold locks, but never their SQL. */
function Waiting({ holders }: { holders: ChangeRequest['waiting_for'] }) {
  return (
    <Caution title={words.waitingForTransactions}>
      {holders.map(({ pid, application_name: name, age_seconds: age, collection }) => (
        <Text size="sm" key={`${pid} ${name} ${collection}`}>
          {describeHolder(name === '' ? words.unnamedApplication : name, pid, collection)}
          {age !== null && `, ${words.openFor(durationText(age * 1000))}`}
        </Text>
      ))}
    </Caution>
  );
}

const describeHolder = (name: string, pid: number | null, collection = '') =>
  pid === null ? words.prepared(name, <Code>{collection}</Code>) : words.session(name, pid, <Code>{collection}</Code>);

/** Shown to the author and to admins, if the state of the request allows it. */
export function Withdraw({ request }: { request: ChangeRequest }) {
  const { id, collections, allowed } = request;
  const client = useQueryClient();
  const mayRevise = useMayRevise(request);
  const giveUp = useMutation({
    mutationFn: () => withdraw(id),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: [CHANGE, id] });
      await client.invalidateQueries({ queryKey: [SCHEMA] });
    },
  });
  if (!mayRevise || !allowed.includes('withdraw')) return null;
  return (
    <>
      <ConfirmButton
        label={words.withdraw}
        sure={words.confirmWithdraw}
        about={collections.join(', ')}
        loading={giveUp.isPending}
        onConfirm={() => giveUp.mutate()}
      />
      {giveUp.error !== null && <ProblemAlert error={giveUp.error} />}
    </>
  );
}
