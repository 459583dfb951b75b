/* Lists environments, which are other instances of the service, and compares their schemas with this one. */
import { Alert, Button, Group, Text, Modal, NumberInput, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import addIcon from 'icon:add';
import { useState, type FormEvent } from 'react';
import {
  environmentsQuery,
  testEnvironment,
  type EnvironmentSettings,
  createEnvironment,
  deleteEnvironment,
  updateEnvironment,
} from '../../service/operations-queries.js';
import { ServiceError } from '../../service/send.js';
import type { Environment, EnvironmentComparison } from '../../service/types.js';
import { SteadyButton, ConfirmButton } from '../../shared/buttons.js';
import { Glyph } from '../../shared/glyph.js';
import { visibleName } from '../../shared/name.js';
import { useTitle } from '../../shared/page.js';
import { ProblemAlert, QueryResult } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';
import { messages as frame } from './messages.js';
import { messages } from './settings-messages.js';

const { common, environments: texts } = messages;

const route = getRouteApi('/operations/environments');

/**
 * Lists environments, and refetches their comparisons every few seconds. If another instance has linked here, opens the
 * review of its changes instead.
 */
export function EnvironmentsTab() {
  useTitle(frame.titleOf(frame.tabs.environments));
  const environments = useQuery(environmentsQuery());
  const [open, setOpen] = useState<Environment | 'new' | null>(null);
  const { from } = route.useSearch();
  const source = environments.data?.find(({ url }) => isSameOrigin(url, from));
  if (source !== undefined) return <Navigate to="/review" search={{ environment: source.id }} replace />;
  return (
    <>
      {from !== undefined && environments.data !== undefined && (
        <Alert variant="light" mb="md">
          {texts.notConnected(visibleName(from))}
        </Alert>
      )}
      <Group justify="space-between" mb="md">
        <Text size="sm" c="dimmed" className={classes.words}>
          {texts.about}
        </Text>
        <Button leftSection={<Glyph path={addIcon} />} onClick={() => setOpen('new')}>
          {texts.connectNew}
        </Button>
      </Group>
      <QueryResult query={environments} label={texts.loading}>
        {(list) =>
          list.length === 0 ? (
            <Empty />
          ) : (
            <ul className={classes.cards} aria-label={frame.tabs.environments}>
              {list.map((environment) => (
                <EnvironmentCard key={environment.id} environment={environment} onEdit={() => setOpen(environment)} />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {open !== null && (
        <EnvironmentDialog environment={open === 'new' ? null : open} url={from} onClose={() => setOpen(null)} />
      )}
    </>
  );
}

const isSameOrigin = (url: string, from: string | undefined): boolean =>
  from !== undefined && URL.canParse(from) && new URL(url).origin === new URL(from).origin;

/** Returns the address of the page of another instance that opens the review of the changes of this instance. */
const comparisonAddress = (url: string): string =>
  `${url}/app/operations/environments?${new URLSearchParams({ from: location.origin }).toString()}`;

const Empty = () => (
  <div className={classes.empty}>
    <Text fw={600}>{texts.none}</Text>
    <Text size="sm" mt={4}>
      {texts.aboutNone}
    </Text>
  </div>
);

function EnvironmentCard({ environment, onEdit }: { environment: Environment; onEdit: () => void }) {
  const { id, name, url, comparison } = environment;
  const client = useQueryClient();
  const test = useMutation({
    mutationFn: () => testEnvironment(id),
    onSettled: () => client.invalidateQueries(environmentsQuery()),
  });
  return (
    <li className={classes.card}>
      <div className={classes.head}>
        <div className={classes.words}>
          <Text fw={600}>{name}</Text>
          <Text size="sm" className={classes.address}>
            <a href={`${url}/app`} target="_blank" rel="noreferrer">
              {url}
            </a>
          </Text>
          <div role="status">
            <Result comparison={comparison} />
          </div>
          <CommonSchema environment={environment} />
        </div>
        <Group gap="xs">
          {comparison !== null && hasChanges(comparison) && (
            <Button
              size="xs"
              renderRoot={(props) => (
                <Link {...props} to="/review" search={{ environment: id }} aria-label={texts.bringChangesFrom(name)} />
              )}
            >
              {texts.bringChanges}
            </Button>
          )}
          {comparison?.error === null && comparison.ahead !== 0 && (
            <Button
              component="a"
              href={comparisonAddress(url)}
              target="_blank"
              rel="noreferrer"
              variant="default"
              size="xs"
            >
              {texts.openThere(name)}
            </Button>
          )}
          <SteadyButton
            variant="default"
            size="xs"
            loading={test.isPending}
            aria-label={texts.testOf(name)}
            onClick={() => test.mutate()}
          >
            {texts.test}
          </SteadyButton>
          <Button variant="default" size="xs" aria-label={common.editOf(name)} onClick={onEdit}>
            {common.edit}
          </Button>
        </Group>
      </div>
      {test.error !== null && <ProblemAlert error={test.error} />}
    </li>
  );
}

const hasChanges = ({ behind, conflicts, error }: EnvironmentComparison): boolean =>
  error === null ? behind !== 0 || conflicts > 0 : error.code === 'not_comparable';

function Result({ comparison }: { comparison: EnvironmentComparison | null }) {
  if (comparison === null) return <Text size="sm">{texts.comparing}</Text>;
  const { error, checked_at: at } = comparison;
  if (error !== null)
    return (
      <Text size="sm" c="var(--mantine-color-error)">
        {error.message}
      </Text>
    );
  return (
    <Text size="sm">
      <b>{countsText(comparison)}</b>{' '}
      <Text component="span" size="sm" c="dimmed">
        (<Time at={at} />)
      </Text>
    </Text>
  );
}

/** `3 changes ahead, 1 behind` */
function countsText({ ahead, behind, conflicts }: EnvironmentComparison): string {
  if (ahead === null || behind === null) return texts.conflicts(conflicts);
  return ahead + behind + conflicts === 0 ? texts.equal : texts.differences({ ahead, behind, conflicts });
}

function baseText({ base, name }: Environment): string {
  if (base === null) return texts.unknownBase;
  return base.log === 'own' ? texts.ownBase(base.position) : texts.otherBase(base.position, name);
}

function CommonSchema({ environment }: { environment: Environment }) {
  return (
    <Text size="sm" c="dimmed">
      {baseText(environment)}
    </Text>
  );
}

/* Connects, edits and deletes an environment. */

interface DialogProps {
  /** Null for a new environment. */
  environment: Environment | null;
  /** The address that the form of a new environment proposes. */
  url?: string | undefined;
  onClose: () => void;
}

/** The form of an environment. It closes when the service accepts the change. The stored token is never shown. */
function EnvironmentDialog({ environment, url, onClose }: DialogProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={environment?.name ?? texts.new}
      closeButtonProps={{ 'aria-label': frame.close }}
    >
      <EnvironmentForm environment={environment} url={url} onClose={onClose} />
    </Modal>
  );
}

/** The token is empty if it does not change. */
type Typed = EnvironmentSettings & { base: number | null };

const MEMBERS: readonly (keyof Typed)[] = ['name', 'url', 'token', 'base'];

const typedOf = (environment: Environment | null, url = ''): Typed => ({
  name: environment?.name ?? '',
  url: environment?.url ?? url,
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

function EnvironmentForm({ environment, url, onClose }: DialogProps) {
  const [typed, setTyped] = useState(() => typedOf(environment, url));
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
          {environment === null ? texts.connect : common.save}
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
        label={common.name}
        required
        withAsterisk={false}
        data-autofocus
        value={typed.name}
        error={at('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <TextInput
        label={common.address}
        placeholder="https://staging.example.com"
        required
        withAsterisk={false}
        value={typed.url}
        error={at('url')}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      <PasswordInput
        label={texts.token}
        description={environment?.has_token === true ? texts.aboutStoredToken : texts.aboutToken}
        required={environment === null}
        withAsterisk={false}
        autoComplete="off"
        value={typed.token}
        error={at('token')}
        onChange={(event) => onChange({ token: event.currentTarget.value })}
      />
      {environment !== null && (
        <NumberInput
          label={texts.base}
          description={texts.aboutBase}
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
        label={common.delete}
        sure={texts.confirmDelete}
        loading={remove.isPending}
        onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
      />
      {remove.error !== null && <ProblemAlert error={remove.error} />}
    </Group>
  );
}
