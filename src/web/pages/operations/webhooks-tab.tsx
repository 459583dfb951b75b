/* Lists webhooks with their deliveries, sends tests and replays, and edits webhooks. */
import addIcon from 'icon:add';
import {
  Badge,
  Button,
  Group,
  Modal,
  NativeSelect,
  NumberInput,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { collectionsQuery } from '../../service/queries.js';
import {
  WEBHOOKS,
  createWebhook,
  deleteWebhook,
  deliveriesQuery,
  replayWebhook,
  rotateSecret,
  testWebhook,
  updateWebhook,
  webhooksQuery,
} from '../../service/operations-queries.js';
import { ServiceError } from '../../service/send.js';
import type { Webhook, WebhookDelivery, WebhookSettings } from '../../service/types.js';
import { ConfirmButton, ShownOnce, SteadyButton } from '../../shared/buttons.js';
import { Glyph } from '../../shared/glyph.js';
import { useTitle } from '../../shared/page.js';
import { ProblemAlert, QueryResult } from '../../shared/problem-alert.js';
import { durationText } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';
import { messages as frame } from './messages.js';
import { messages } from './settings-messages.js';
import { locale } from '../../shared/language.js';

const { common, webhook: dialog, webhooks: texts } = messages;

/** Lists webhooks, and refetches them every few seconds. Explains webhooks if there are none. */
export function WebhooksTab() {
  useTitle(frame.titleOf(frame.tabs.webhooks));
  const webhooks = useQuery(webhooksQuery());
  const [open, setOpen] = useState<Webhook | 'new' | null>(null);
  return (
    <>
      <Group justify="space-between" mb="md">
        <Text size="sm" c="dimmed" className={classes.words}>
          {texts.about}
        </Text>
        <Button leftSection={<Glyph path={addIcon} />} onClick={() => setOpen('new')}>
          {texts.new}
        </Button>
      </Group>
      <QueryResult query={webhooks} label={texts.loading}>
        {(list) => (list.length === 0 ? <Empty /> : <Cards webhooks={list} onEdit={setOpen} />)}
      </QueryResult>
      {open !== null && <WebhookDialog webhook={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </>
  );
}

const Empty = () => (
  <div className={classes.empty}>
    <Text fw={600}>{texts.none}</Text>
    <Text size="sm" mt={4}>
      {texts.aboutNone}
    </Text>
  </div>
);

function Cards({ webhooks, onEdit }: { webhooks: readonly Webhook[]; onEdit: (webhook: Webhook) => void }) {
  return (
    <ul className={classes.cards} aria-label={frame.tabs.webhooks}>
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
              {texts.states[state]}
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
            aria-label={texts.deliveriesOf(name)}
            onClick={() => setOpen(!isOpen)}
          >
            {texts.deliveries}
          </Button>
          <SteadyButton
            variant="default"
            size="xs"
            loading={sendTest.isPending}
            aria-label={texts.testOf(name)}
            onClick={() => sendTest.mutate()}
          >
            {texts.test}
          </SteadyButton>
          <SteadyButton
            variant="default"
            size="xs"
            loading={switchState.isPending}
            aria-label={isDisabled ? texts.enableOf(name) : texts.disableOf(name)}
            onClick={() => switchState.mutate()}
          >
            {isDisabled ? texts.enable : texts.disable}
          </SteadyButton>
          <Button variant="default" size="xs" aria-label={common.editOf(name)} onClick={onEdit}>
            {common.edit}
          </Button>
        </Group>
      </div>
      <div role="status">{sendTest.data && !sendTest.isPending && <TestResult delivery={sendTest.data} />}</div>
      {[sendTest.error, switchState.error].map((error) => error && <ProblemAlert key={error.message} error={error} />)}
      {isOpen && <Deliveries webhook={webhook} />}
    </li>
  );
}

const FORMAT_LABELS: Readonly<Record<Webhook['format'], string>> = {
  cloudevents: 'CloudEvents',
  slack: 'Slack',
  teams: 'Microsoft Teams',
};

const filterText = ({ types, collections }: Webhook): string =>
  texts.filter(types.includes('*') ? null : types, collections);

/** The reasons that the service sends. */
const DISABLED: Readonly<Record<string, string>> = texts.disabledBecause;

function progressText(behind: number, position: number | null): string {
  if (position === null) return texts.noneDelivered;
  return behind === 0 ? texts.upToDate(position) : texts.behind(behind, position);
}

/** Shows the position up to which events were delivered, and why the webhook does not deliver. */
function DeliveryProgress({ webhook }: { webhook: Webhook }) {
  const { behind, position, disabled_because: because, last_error: lastError } = webhook;
  const { failing_since: since, next_attempt_at: next } = webhook;
  return (
    <>
      <Text size="sm" c="dimmed">
        {progressText(behind, position)}
      </Text>
      {because !== null && <Text size="sm">{DISABLED[because] ?? because}</Text>}
      {lastError !== null && (
        <Text size="sm" c="var(--mantine-color-error)">
          {lastError}
          {since !== null && <> {texts.failingSince(<Time at={since} />)}</>}
          {next !== null && <> {texts.nextAttempt(<Time at={next} as="clock" />)}</>}
        </Text>
      )}
    </>
  );
}

const TestResult = ({ delivery: { status, error, milliseconds } }: { delivery: WebhookDelivery }) => (
  <Text size="sm" mt="sm" c={error === null ? undefined : 'var(--mantine-color-error)'}>
    {error ?? texts.testAccepted(status, durationText(milliseconds))}
  </Text>
);

function Deliveries({ webhook }: { webhook: Webhook }) {
  const deliveries = useQuery(deliveriesQuery(webhook.id));
  return (
    <div className={classes.step}>
      <Replay webhook={webhook} />
      <QueryResult query={deliveries} label={texts.loadingDeliveries}>
        {(attempts) =>
          attempts.length === 0 ? (
            <Text size="sm" c="dimmed" mt="md">
              {texts.noDeliveries}
            </Text>
          ) : (
            <ul className={classes.deliveries} aria-label={texts.lastDeliveries(webhook.name)} tabIndex={0}>
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
        {status === null ? texts.noResponse : texts.status(status)}, {durationText(milliseconds)}, <Time at={at} />
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
    <form onSubmit={submit} aria-label={texts.replayOf(name)}>
      <Group align="flex-end" gap="sm">
        <NumberInput
          label={texts.replayFrom}
          description={texts.aboutReplay}
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
          {texts.replay}
        </SteadyButton>
      </Group>
      {replay.error !== null && atInput === undefined && <ProblemAlert error={replay.error} />}
      <div role="status">
        {replay.data && (
          <Text size="sm" mt="xs">
            {texts.continues(replay.variables)}
          </Text>
        )}
      </div>
    </form>
  );
}

/* Creates, edits and deletes a webhook. */

const FORMATS = Object.entries(FORMAT_LABELS).map(([value, label]) => ({ value, label }));

/** Common patterns. The input also accepts all other patterns. */
const TYPE_PATTERNS = ['collection.*', 'field.*', 'relation.*', 'object.*', 'change.*', 'policy.*', 'webhook.*'];

const EMPTY: WebhookSettings = { name: '', url: '', format: 'cloudevents', types: ['*'], collections: null };

const settingsOf = ({ name, url, format, types, collections }: Webhook): WebhookSettings => ({
  name,
  url,
  format,
  types,
  collections,
});

/**
 * The form of a webhook. It closes when the service accepts the change. While it shows a secret, it closes only by its
 * button and Escape.
 * @param props.webhook null for a new webhook
 */
function WebhookDialog({ webhook, onClose }: { webhook: Webhook | null; onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Modal
      opened
      // A click outside would hide the secret, which is shown only once.
      closeOnClickOutside={secret === null}
      onClose={onClose}
      title={webhook?.name ?? messages.webhooks.new}
      closeButtonProps={{ 'aria-label': frame.close }}
    >
      {secret === null ? (
        <WebhookForm webhook={webhook} onSecret={setSecret} onDone={onClose} />
      ) : (
        <>
          <Text size="sm">{dialog.aboutSecret}</Text>
          <ShownOnce secret={secret} name="secret" />
          <Button mt="md" fullWidth data-autofocus onClick={onClose}>
            {common.done}
          </Button>
        </>
      )}
    </Modal>
  );
}

interface FormProps {
  webhook: Webhook | null;
  onSecret: (secret: string) => void;
  onDone: () => void;
}

function WebhookForm({ webhook, onSecret, onDone }: FormProps) {
  const [settings, setSettings] = useState(webhook === null ? EMPTY : settingsOf(webhook));
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: async () => {
      const sent = { ...settings, types: settings.types.length === 0 ? ['*'] : settings.types };
      if (webhook === null) return (await createWebhook(sent)).secret;
      await updateWebhook(webhook.id, sent);
      return null;
    },
    onSuccess: () => client.invalidateQueries({ queryKey: [WEBHOOKS] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined, { onSuccess: (secret) => (secret === null ? onDone() : onSecret(secret)) });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <SettingsInputs
          settings={settings}
          error={save.error}
          onChange={(changed) => setSettings({ ...settings, ...changed })}
        />
        {save.error !== null && !isShownAtInputs(save.error) && <ProblemAlert error={save.error} />}
        {webhook !== null && <SecretAndDeletion webhook={webhook} onSecret={onSecret} onDone={onDone} />}
        <SteadyButton type="submit" loading={save.isPending}>
          {webhook === null ? dialog.create : common.save}
        </SteadyButton>
      </Stack>
    </form>
  );
}

/** @returns the member in a path: `types` for `types[0]` */
const memberOf = (path: string | undefined): string => path?.replace(/\[.*/s, '') ?? '';

const isShownAtInputs = (error: Error): boolean =>
  error instanceof ServiceError &&
  error.problems.every(({ extensions }) => Object.hasOwn(EMPTY, memberOf(extensions.path)));

interface SettingsInputsProps {
  settings: WebhookSettings;
  error: Error | null;
  onChange: (changed: Partial<WebhookSettings>) => void;
}

function SettingsInputs({ settings, error, onChange }: SettingsInputsProps) {
  const { name, url, format, types, collections } = settings;
  const { data: listed = [] } = useQuery(collectionsQuery());
  const at = (member: keyof WebhookSettings) =>
    error instanceof ServiceError
      ? error.problems.find(({ extensions }) => memberOf(extensions.path) === member)?.message
      : undefined;
  return (
    <>
      <TextInput
        label={common.name}
        required
        withAsterisk={false}
        data-autofocus
        value={name}
        error={at('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <TextInput
        label={common.address}
        placeholder="https://example.com/hook"
        required
        withAsterisk={false}
        value={url}
        error={at('url')}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      <NativeSelect
        label={dialog.format}
        data={FORMATS}
        value={format}
        error={at('format')}
        onChange={(event) => onChange({ format: event.currentTarget.value as Webhook['format'] })}
      />
      <TagsInput
        label={dialog.types}
        description={dialog.aboutTypes}
        data={TYPE_PATTERNS}
        value={types}
        error={at('types')}
        onChange={(chosen) => onChange({ types: chosen })}
        clearButtonProps={{ 'aria-label': common.clear }}
      />
      <TagsInput
        label={common.collections}
        description={dialog.aboutCollections}
        data={listed.map(({ collection }) => collection)}
        value={collections ?? []}
        error={at('collections')}
        onChange={(chosen) => onChange({ collections: chosen.length === 0 ? null : chosen })}
        limit={50}
        clearButtonProps={{ 'aria-label': common.clear }}
      />
    </>
  );
}

function SecretAndDeletion({ webhook, onSecret, onDone }: FormProps & { webhook: Webhook }) {
  const client = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => rotateSecret(webhook.id),
    onSuccess: () => client.invalidateQueries({ queryKey: [WEBHOOKS] }),
  });
  const remove = useMutation({
    mutationFn: () => deleteWebhook(webhook.id),
    // Removing the webhook from the list prevents the page from requesting its deliveries.
    onSuccess: () =>
      client.setQueryData(webhooksQuery().queryKey, (list) => list?.filter(({ id }) => id !== webhook.id)),
  });
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {dialog.aboutReplacing}
      </Text>
      <Group gap="xs">
        <ConfirmButton
          size="xs"
          label={dialog.replaceSecret}
          sure={dialog.confirmReplace}
          loading={rotate.isPending}
          onConfirm={() => rotate.mutate(undefined, { onSuccess: ({ secret }) => onSecret(secret) })}
        />
        <ConfirmButton
          size="xs"
          label={common.delete}
          sure={dialog.confirmDelete}
          loading={remove.isPending}
          onConfirm={() => remove.mutate(undefined, { onSuccess: onDone })}
        />
      </Group>
      {rotate.error !== null && <ProblemAlert error={rotate.error} />}
      {remove.error !== null && <ProblemAlert error={remove.error} />}
    </Stack>
  );
}
