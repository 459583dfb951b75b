/** A change request: how far its preparation is, and what became of it. It goes on whether somebody looks or not. */
import { Badge, Button, Group, Progress, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { SCHEMA } from '../../service/queries.js';
import { changeQuery, withdraw } from '../../service/review-queries.js';
import { useRole } from '../../service/use-session.js';
import type { ChangeRequest } from '../../service/types.js';
import { Answered } from '../../shared/answered.js';
import { brief } from '../../shared/brief.js';
import { ChangeList } from '../../shared/changes/change-list.js';
import { changesOf } from '../../shared/changes/sentences.js';
import { ConfirmButton } from '../../shared/confirm-button.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import { sizeText } from './model/sizes.js';
import { askedFor } from './model/asked-for.js';
import classes from './review.module.css';

export const STATES = {
  queued: { color: 'gray', words: 'waits for another request that has its tables' },
  preparing: { color: 'blue', words: 'is being prepared, while the tables are used' },
  prepared: { color: 'blue', words: 'is prepared, and about to be applied' },
  applied: { color: 'teal', words: 'is applied' },
  failed: { color: 'red', words: 'failed, and nothing was changed' },
  withdrawn: { color: 'gray', words: 'was withdrawn, and nothing was changed' },
} as const;

export function RequestView({ id }: { id: string }) {
  useTitle('Change request · Review');
  const query = useQuery(changeQuery(id));
  return (
    <Page>
      <Answered query={query} label="Reading the change request">
        {(request) => <Request request={request} isLost={query.error !== null} />}
      </Answered>
    </Page>
  );
}

function Request({ request, isLost }: { request: ChangeRequest; isLost: boolean }) {
  const { state, author, reason, opened_at: at, collections, cleaning, errors, result, warnings } = request;
  const { color, words } = STATES[state];
  const diff = askedFor(request.document.content);
  return (
    <Stack gap="md">
      <div>
        <Group gap="sm">
          <Title order={1} size="h3">
            Change of {brief(collections.join(', '), 120)}
          </Title>
          <Badge color={color} variant="light" className={classes.state} role="status">
            {state}
          </Badge>
        </Group>
        <Text mt={4}>
          It {words}.{cleaning && ' What was prepared is being taken away.'}
        </Text>
        <Text size="sm" c="dimmed">
          {author.name}, <Time at={at} />
          {reason !== null && `: ${brief(reason, 300)}`}
        </Text>
        {isLost && <Text size="sm">No answer just now; this is how far it was.</Text>}
      </div>
      <Steps request={request} />
      <Waits request={request} />
      {errors !== null && errors.length > 0 && (
        <Stack gap={4} role="alert" className={classes.failure}>
          {errors.map(({ message }) => (
            <Text size="sm" key={message}>
              {message}
            </Text>
          ))}
        </Stack>
      )}
      {warnings.map(({ code, message }) => (
        <Text size="sm" key={`${code} ${message}`}>
          {message}
        </Text>
      ))}
      <Group gap="sm">
        {result !== null && (
          <Button renderRoot={(props) => <Link {...props} to="/review" search={{ done: result.batch }} />}>
            What was applied
          </Button>
        )}
        <Withdraw request={request} />
      </Group>
      {diff !== null && (
        <section>
          <Title order={2} size="h5" mb="xs">
            What it asks for
          </Title>
          <ChangeList changes={changesOf(diff)} />
        </section>
      )}
    </Stack>
  );
}

function Steps({ request: { steps } }: { request: ChangeRequest }) {
  if (steps.length === 0) return null;
  return (
    <ol className={classes.steps}>
      {steps.map(({ key, summary, state, done, phase, rows, bytes, milliseconds }) => {
        const percent = state === 'done' ? 100 : Math.round((done ?? 0) * 100);
        const size = sizeText({ rows, bytes });
        return (
          <li key={key} data-state={state}>
            <Group justify="space-between" gap="xs">
              <Text size="sm" fw={550}>
                {summary}
              </Text>
              <Text size="xs" c="dimmed">
                {state === 'done' && milliseconds !== null
                  ? `done in ${(milliseconds / 1000).toLocaleString()} s`
                  : [state === 'running' ? (phase ?? 'running') : state, size].filter(Boolean).join(' · ')}
              </Text>
            </Group>
            <Progress
              value={percent}
              animated={state === 'running'}
              mt={4}
              aria-label={summary}
              color={state === 'done' ? 'teal' : 'iris'}
            />
          </li>
        );
      })}
    </ol>
  );
}

function Waits({ request: { waiting_for: waits, queued_behind: behind } }: { request: ChangeRequest }) {
  return (
    <>
      {waits.map(({ pid, application_name: name, age_seconds: age, collection }) => (
        <Text size="sm" key={`${pid} ${collection}`}>
          It waits for a transaction on {collection} by {name === '' ? 'a client without a name' : name}
          {pid !== null && ` (process ${pid})`}
          {age !== null && `, ${age} s old`}.
        </Text>
      ))}
      {behind.map((id) => (
        <Text size="sm" key={id}>
          Before it comes{' '}
          <Link to="/review" search={{ change: id }}>
            another request
          </Link>
          .
        </Text>
      ))}
    </>
  );
}

function Withdraw({ request: { id, allowed } }: { request: ChangeRequest }) {
  const client = useQueryClient();
  const isAdmin = useRole() === 'admin';
  const giveUp = useMutation({
    mutationFn: () => withdraw(id),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: ['change', id] });
      await client.invalidateQueries({ queryKey: [SCHEMA, 'changes'] });
    },
  });
  if (!isAdmin || !allowed.includes('withdraw')) return null;
  return (
    <>
      <ConfirmButton
        label="Withdraw"
        sure="Yes, give it up"
        loading={giveUp.isPending}
        onConfirm={() => giveUp.mutate()}
      />
      {giveUp.error !== null && <ProblemAlert error={giveUp.error} />}
    </>
  );
}
