/* Creates, edits and deletes a webhook. */
import { Button, Group, Modal, NativeSelect, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { collectionsQuery } from '../../service/queries.js';
import {
  WEBHOOKS,
  createWebhook,
  deleteWebhook,
  rotateSecret,
  updateWebhook,
  webhooksQuery,
} from '../../service/operations-queries.js';
import { ServiceError } from '../../service/send.js';
import type { Webhook, WebhookSettings } from '../../service/types.js';
import { ConfirmButton, ShownOnce, SteadyButton } from '../../shared/buttons.js';
import { ProblemAlert } from '../../shared/problem-alert.js';

export const FORMAT_LABELS: Readonly<Record<Webhook['format'], string>> = {
  cloudevents: 'CloudEvents',
  slack: 'Slack',
  teams: 'Microsoft Teams',
};

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
export function WebhookDialog({ webhook, onClose }: { webhook: Webhook | null; onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Modal
      opened
      // A click outside would hide the secret, which is shown only once.
      closeOnClickOutside={secret === null}
      onClose={onClose}
      title={webhook?.name ?? 'New webhook'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {secret === null ? (
        <WebhookForm webhook={webhook} onSecret={setSecret} onDone={onClose} />
      ) : (
        <>
          <Text size="sm">The receiver verifies the signature of each request with this secret.</Text>
          <ShownOnce secret={secret} name="secret" />
          <Button mt="md" fullWidth data-autofocus onClick={onClose}>
            Done
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
          {webhook === null ? 'Create webhook' : 'Save'}
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
        label="Name"
        required
        withAsterisk={false}
        data-autofocus
        value={name}
        error={at('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Address"
        placeholder="https://example.com/hook"
        required
        withAsterisk={false}
        value={url}
        error={at('url')}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      <NativeSelect
        label="Format"
        data={FORMATS}
        value={format}
        error={at('format')}
        onChange={(event) => onChange({ format: event.currentTarget.value as Webhook['format'] })}
      />
      <TagsInput
        label="Event types"
        description="Types, or patterns with *. Choose them, or type them and press Enter."
        data={TYPE_PATTERNS}
        value={types}
        error={at('types')}
        onChange={(chosen) => onChange({ types: chosen })}
        clearButtonProps={{ 'aria-label': 'Clear' }}
      />
      <TagsInput
        label="Collections"
        description="Names, or patterns with *. Empty: all events, including those without a collection."
        data={listed.map(({ collection }) => collection)}
        value={collections ?? []}
        error={at('collections')}
        onChange={(chosen) => onChange({ collections: chosen.length === 0 ? null : chosen })}
        limit={50}
        clearButtonProps={{ 'aria-label': 'Clear' }}
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
        A new secret replaces the current one. For 24 hours, each request has a signature with both.
      </Text>
      <Group gap="xs">
        <ConfirmButton
          size="xs"
          label="Replace secret"
          sure="Yes, replace secret"
          loading={rotate.isPending}
          onConfirm={() => rotate.mutate(undefined, { onSuccess: ({ secret }) => onSecret(secret) })}
        />
        <ConfirmButton
          size="xs"
          label="Delete"
          sure="Yes, delete webhook"
          loading={remove.isPending}
          onConfirm={() => remove.mutate(undefined, { onSuccess: onDone })}
        />
      </Group>
      {rotate.error !== null && <ProblemAlert error={rotate.error} />}
      {remove.error !== null && <ProblemAlert error={remove.error} />}
    </Stack>
  );
}
