/* Connects, edits and deletes an environment. */
import { Group, Modal, NumberInput, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import {
  type EnvironmentSettings,
  createEnvironment,
  deleteEnvironment,
  environmentsQuery,
  updateEnvironment,
} from '../../service/operations-queries.js';
import { ServiceError } from '../../service/send.js';
import type { Environment } from '../../service/types.js';
import { ConfirmButton, SteadyButton } from '../../shared/buttons.js';
import { ProblemAlert } from '../../shared/problem-alert.js';

interface DialogProps {
  /** Null for a new environment. */
  environment: Environment | null;
  onClose: () => void;
}

/** The form of an environment. It closes when the service accepts the change. The stored token is never shown. */
export function EnvironmentDialog({ environment, onClose }: DialogProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={environment?.name ?? 'New environment'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <EnvironmentForm environment={environment} onClose={onClose} />
    </Modal>
  );
}

/** The token is empty if it does not change. */
type Typed = EnvironmentSettings & { base: number | null };

const MEMBERS: readonly (keyof Typed)[] = ['name', 'url', 'token', 'base'];

const typedOf = (environment: Environment | null): Typed => ({
  name: environment?.name ?? '',
  url: environment?.url ?? '',
  token: '',
  base: environment?.base?.log === 'own' ? environment.base.position : null,
});

function save(environment: Environment | null, { base, token, ...settings }: Typed): Promise<unknown> {
  if (environment === null) return createEnvironment({ ...settings, token });
  const changes = {
    ...settings,
    ...(token !== '' && { token }),
    ...(base !== typedOf(environment).base && { base }),
  };
  return updateEnvironment(environment.id, changes);
}

function EnvironmentForm({ environment, onClose }: DialogProps) {
  const [typed, setTyped] = useState(() => typedOf(environment));
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: () => save(environment, typed),
    onSuccess: () => client.invalidateQueries(environmentsQuery()),
  });
  const { error, isPending } = saving;
  const isShownAtInput = error instanceof ServiceError && MEMBERS.some((member) => error.at(member) !== undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate(undefined, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Inputs
          environment={environment}
          typed={typed}
          error={error}
          onChange={(changed) => setTyped({ ...typed, ...changed })}
        />
        {error !== null && !isShownAtInput && <ProblemAlert error={error} />}
        {environment !== null && <Deletion environment={environment} onClose={onClose} />}
        <SteadyButton type="submit" loading={isPending}>
          {environment === null ? 'Connect' : 'Save'}
        </SteadyButton>
      </Stack>
    </form>
  );
}

interface InputsProps {
  environment: Environment | null;
  typed: Typed;
  error: Error | null;
  onChange: (changed: Partial<Typed>) => void;
}

function Inputs({ environment, typed, error, onChange }: InputsProps) {
  const at = (member: keyof Typed) => (error instanceof ServiceError ? error.at(member) : undefined);
  return (
    <>
      <TextInput
        label="Name"
        required
        withAsterisk={false}
        data-autofocus
        value={typed.name}
        error={at('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Address"
        placeholder="https://staging.example.com"
        required
        withAsterisk={false}
        value={typed.url}
        error={at('url')}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      <PasswordInput
        label="Token"
        description={
          environment?.has_token === true
            ? 'Leave it empty to keep the stored token. A new address needs it again.'
            : 'An API token of an author or admin there, with the actions read and history.'
        }
        required={environment === null}
        withAsterisk={false}
        autoComplete="off"
        value={typed.token}
        error={at('token')}
        onChange={(event) => onChange({ token: event.currentTarget.value })}
      />
      {environment !== null && (
        <NumberInput
          label="Both schemas were equal at event"
          description="A position of this service. The service updates it when one schema contains the other."
          min={1}
          allowDecimal={false}
          value={typed.base ?? ''}
          error={at('base')}
          onChange={(value) => onChange({ base: typeof value === 'number' ? value : null })}
        />
      )}
    </>
  );
}

function Deletion({ environment: { id }, onClose }: { environment: Environment; onClose: () => void }) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteEnvironment(id),
    onSuccess: () => client.invalidateQueries(environmentsQuery()),
  });
  return (
    <Group gap="xs">
      <ConfirmButton
        size="xs"
        label="Delete"
        sure="Yes, delete environment"
        loading={remove.isPending}
        onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
      />
      {remove.error !== null && <ProblemAlert error={remove.error} />}
    </Group>
  );
}
