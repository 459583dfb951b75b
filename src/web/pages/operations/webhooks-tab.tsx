/* Lists webhooks with their deliveries, and sends tests and replays. */
import addIcon from 'icon:add';
import { Badge, Button, Group, NumberInput, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import {
  WEBHOOKS,
  deliveriesQuery,
  replayWebhook,
  testWebhook,
  updateWebhook,
  webhooksQuery,
} from '../../service/operations-queries.js';
import { ServiceError } from '../../service/send.js';
import type { Webhook, WebhookDelivery } from '../../service/types.js';
import { SteadyButton } from '../../shared/buttons.js';
import { Glyph } from '../../shared/glyph.js';
import { useTitle } from '../../shared/page.js';
import { ProblemAlert, QueryResult } from '../../shared/problem-alert.js';
import { counted, durationText } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';
import { FORMAT_LABELS, WebhookDialog } from './webhook-dialog.js';
import { named } from '../../shared/name.js';
import { locale } from '../../shared/language.js';

/** Lists webhooks, and refetches them every few seconds. Explains webhooks if there are none. */
export function WebhooksTab() {
  useTitle('Webhooks · Operations');
  const webhooks = useQuery(webhooksQuery());
  const [open, setOpen] = useState<Webhook | 'new' | null>(null);
  return (
    <>
      <Group justify="space-between" align="flex-start" mb="md">
        <Text size="sm" c="dimmed" className={classes.words}>
          A webhook sends each event that passes its filter to an address.
        </Text>
        <Button leftSection={<Glyph path={addIcon} />} onClick={() => setOpen('new')}>
          New webhook
        </Button>
      </Group>
      <QueryResult query={webhooks} label="Loading the webhooks">
        {(list) => (list.length === 0 ? <Empty /> : <Cards webhooks={list} onEdit={setOpen} />)}
      </QueryResult>
      {open !== null && <WebhookDialog webhook={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </>
  );
}

const Empty = () => (
  <div className={classes.empty}>
    <Text fw={600}>No webhooks</Text>
    <Text size="sm" mt={4}>
      Create one to send events to another program, to Slack or to Microsoft Teams.
    </Text>
  </div>
);

function Cards({ webhooks, onEdit }: { webhooks: readonly Webhook[]; onEdit: (webhook: Webhook) => void }) {
  return (
    <ul className={classes.cards} aria-label="Webhooks">
      {webhooks.map((webhook) => (
        <WebhookCard key={webhook.id} webhook={webhook} onEdit={() => onEdit(webhook)} />
      ))}
    </ul>
  );
}

const COLORS: Readonly<Record<Webhook['state'], string>> = { enabled: 'teal', failing: 'red', disabled: 'gray' };

function WebhookCard({ webhook, onEdit }: { webhook: Webhook; onEdit: () => void }) {
  const { id, name, url, state, format } = webhook;
  const [isOpen, setOpen] = useState(false);
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: [WEBHOOKS] });
  const sendTest = useMutation({ mutationFn: () => testWebhook(id), onSettled });
  const isDisabled = state === 'disabled';
  const switchState = useMutation({ mutationFn: () => updateWebhook(id, { enabled: isDisabled }), onSettled });
  return (
    <li className={classes.card}>
      <div className={classes.head}>
        <div className={classes.words}>
          <Group gap="xs">
            <Badge variant="light" color={COLORS[state]} tt="none" className={classes.badge}>
              {state}
            </Badge>
            <Text fw={600}>{name}</Text>
          </Group>
          <Text size="sm" mt={4} className={classes.address}>
            {url}
          </Text>
          <Text size="sm" c="dimmed">
            {FORMAT_LABELS[format]}. {filterText(webhook)}
          </Text>
          <DeliveryProgress webhook={webhook} />
        </div>
        <Group gap="xs">
          <Button
            variant="subtle"
            size="xs"
            aria-expanded={isOpen}
            aria-label={named`Deliveries of ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            Deliveries
          </Button>
          <SteadyButton
            variant="default"
            size="xs"
            loading={sendTest.isPending}
            aria-label={named`Send a test to ${name}`}
            onClick={() => sendTest.mutate()}
          >
            Send a test
          </SteadyButton>
          <SteadyButton
            variant="default"
            size="xs"
            loading={switchState.isPending}
            aria-label={named`${isDisabled ? 'Enable' : 'Disable'} ${name}`}
            onClick={() => switchState.mutate()}
          >
            {isDisabled ? 'Enable' : 'Disable'}
          </SteadyButton>
          <Button variant="default" size="xs" aria-label={named`Edit ${name}`} onClick={onEdit}>
            Edit
          </Button>
        </Group>
      </div>
      <div role="status">{sendTest.data && !sendTest.isPending && <TestResult delivery={sendTest.data} />}</div>
      {[sendTest.error, switchState.error].map((error) => error && <ProblemAlert key={error.message} error={error} />)}
      {isOpen && <Deliveries webhook={webhook} />}
    </li>
  );
}

function filterText({ types, collections }: Webhook): string {
  const events = types.includes('*') ? 'All events' : `Events ${types.join(', ')}`;
  return collections === null ? `${events}.` : `${events} of ${collections.join(', ')}.`;
}

/** Descriptions of the reasons that the service sends. */
const DISABLED: Readonly<Record<string, string>> = {
  requested: 'An admin disabled it.',
  gone: 'The service disabled it, because the receiver responded with status 410.',
  failing: 'The service disabled it after three days of failed attempts.',
  restored: 'It was restored from a backup. Replace its secret before you enable it.',
  copied: 'The service disabled it, because its database is a copy of another one.',
};

/** Shows the position up to which events were delivered, and why the webhook does not deliver. */
function DeliveryProgress({ webhook }: { webhook: Webhook }) {
  const { behind, position, disabled_because: because, last_error: lastError } = webhook;
  const { failing_since: since, next_attempt_at: next } = webhook;
  const progress = behind === 0 ? 'Up to date' : `${counted(behind, 'event')} behind`;
  return (
    <>
      <Text size="sm" c="dimmed">
        {position === null ? 'It has delivered no event.' : `${progress}, at event ${position.toLocaleString(locale)}.`}
      </Text>
      {because !== null && <Text size="sm">{DISABLED[because] ?? because}</Text>}
      {lastError !== null && (
        <Text size="sm" c="var(--mantine-color-error)">
          {lastError}
          {since !== null && (
            <>
              {' '}
              Failing since <Time at={since} />.
            </>
          )}
          {next !== null && (
            <>
              {' '}
              Next attempt at <Time at={next} as="clock" />.
            </>
          )}
        </Text>
      )}
    </>
  );
}

const TestResult = ({ delivery: { status, error, milliseconds } }: { delivery: WebhookDelivery }) => (
  <Text size="sm" mt="sm" c={error === null ? undefined : 'var(--mantine-color-error)'}>
    {error ?? `The receiver accepted the test with status ${status} after ${durationText(milliseconds)}.`}
  </Text>
);

function Deliveries({ webhook }: { webhook: Webhook }) {
  const deliveries = useQuery(deliveriesQuery(webhook.id));
  return (
    <div className={classes.step}>
      <Replay webhook={webhook} />
      <QueryResult query={deliveries} label="Loading the deliveries">
        {(attempts) =>
          attempts.length === 0 ? (
            <Text size="sm" c="dimmed" mt="md">
              No deliveries.
            </Text>
          ) : (
            <ul className={classes.deliveries} aria-label={named`Last deliveries of ${webhook.name}`} tabIndex={0}>
              {attempts.map((delivery) => (
                <DeliveryLine key={`${delivery.message} ${delivery.attempted_at}`} delivery={delivery} />
              ))}
            </ul>
          )
        }
      </QueryResult>
    </div>
  );
}

function DeliveryLine({ delivery }: { delivery: WebhookDelivery }) {
  const { type, position, attempted_at: at, milliseconds, status, error } = delivery;
  return (
    <li className={classes.line}>
      <div className={classes.words}>
        <Text size="sm">
          {position !== null && `${position.toLocaleString(locale)} `}
          {type}
        </Text>
        {error !== null && (
          <Text size="sm" c="var(--mantine-color-error)">
            {error}
          </Text>
        )}
      </div>
      <Text size="sm" c="dimmed">
        {status === null ? 'no response' : `status ${status}`}, {durationText(milliseconds)}, <Time at={at} />
      </Text>
    </li>
  );
}

/** Delivers the events from a position on again. */
function Replay({ webhook: { id, name } }: { webhook: Webhook }) {
  const [position, setPosition] = useState<number | null>(null);
  const client = useQueryClient();
  const replay = useMutation({
    mutationFn: (from: number) => replayWebhook(id, from),
    onSuccess: () => client.invalidateQueries({ queryKey: [WEBHOOKS] }),
  });
  const atInput = replay.error instanceof ServiceError ? replay.error.at('position') : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (position !== null) replay.mutate(position);
  };
  return (
    <form onSubmit={submit} aria-label={named`Replay of ${name}`}>
      <Group align="flex-end" gap="sm">
        <NumberInput
          label="Deliver again from event"
          description="The events have the same ids as before."
          size="xs"
          min={1}
          allowDecimal={false}
          required
          withAsterisk={false}
          value={position ?? ''}
          error={atInput}
          onChange={(value) => setPosition(typeof value === 'number' ? value : null)}
        />
        <SteadyButton type="submit" size="xs" variant="default" loading={replay.isPending}>
          Replay
        </SteadyButton>
      </Group>
      {replay.error !== null && atInput === undefined && <ProblemAlert error={replay.error} />}
      <div role="status">
        {replay.data && (
          <Text size="sm" mt="xs">
            Delivery continues at event {replay.variables.toLocaleString(locale)}.
          </Text>
        )}
      </div>
    </form>
  );
}
