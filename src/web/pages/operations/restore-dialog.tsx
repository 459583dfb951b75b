/** Restores from the trash. A dry run shows first what cannot be restored. */
import { Alert, Button, Group, Modal, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { RefusedError } from '../../service/errors.js';
import { SCHEMA } from '../../service/queries.js';
import { type Restoring, restore, restorePlanQuery } from '../../service/trash-queries.js';
import type { TrashEntry } from '../../service/types.js';
import { Caution } from '../../shared/caution.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { ReasonInput } from '../../shared/reason-input.js';
import { Waiting } from '../../shared/waiting.js';
import { type RestoreOutlook, outlookOf } from './restore-outlook.js';
import { nameOf } from './trash-name.js';
import { SteadyButton } from '../../shared/steady-button.js';

/** Milliseconds without input before a dry run. */
const PAUSE = 400;

type Back = Awaited<ReturnType<typeof restore>>;

/**
 * Runs a dry run when it opens and after each pause in typing. An input that would be rejected cannot be sent. Opens
 * the restored object.
 */
export function RestoreDialog({ entry, onClose }: { entry: TrashEntry; onClose: () => void }) {
  const [back, setBack] = useState<Back | null>(null);
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={`Restore ${nameOf(entry)}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {back === null ? <Form entry={entry} onDone={setBack} /> : <Done back={back} onClose={onClose} />}
    </Modal>
  );
}

function Form({ entry, onDone }: { entry: TrashEntry; onDone: (back: Back) => void }) {
  const [restoring, setRestoring] = useState<Restoring>({ as: '', without: [] });
  const [reason, setReason] = useState('');
  const [tried] = useDebouncedValue(restoring, PAUSE);
  const plan = useQuery({ ...restorePlanQuery(entry.position, tried), placeholderData: keepPreviousData });
  const client = useQueryClient();
  const bring = useMutation({
    mutationFn: () => restore(entry.position, restoring, reason),
    onSuccess: async (back) => {
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      onDone(back);
    },
  });
  const error = bring.error ?? plan.error;
  const at = (path: string) => said(error, path);
  const outlook = plan.data === undefined ? null : outlookOf(plan.data);
  const change = (changed: Partial<Restoring>) => {
    bring.reset();
    setRestoring({ ...restoring, ...changed });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    bring.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="New name"
          placeholder={entry.field ?? entry.collection}
          data-autofocus
          value={restoring.as}
          error={at('as')}
          onChange={(event) => change({ as: event.currentTarget.value })}
        />
        <TagsInput
          label="Skip these foreign keys"
          description="Foreign keys that no longer hold can be skipped. Choose them, or type their names."
          data={[...(plan.data?.optional ?? [])]}
          value={[...restoring.without]}
          error={at('without[0]')}
          onChange={(without) => change({ without })}
          clearButtonProps={{ 'aria-label': 'Clear' }}
        />
        <ReasonInput value={reason} onChange={setReason} />
        <div role="status" aria-live="polite">
          <Tried error={error} outlook={outlook} />
        </div>
        <Group justify="flex-end">
          <SteadyButton type="submit" loading={bring.isPending} disabled={plan.isFetching || !mayCome(outlook)}>
            Restore
          </SteadyButton>
        </Group>
      </Stack>
    </form>
  );
}

const said = (error: Error | null, path: string): string | undefined =>
  error instanceof RefusedError ? error.at(path) : undefined;

const mayCome = (outlook: RestoreOutlook | null): boolean => outlook?.refused.length === 0;

/** An error shown at its input is not repeated. */
function Tried({ error, outlook }: { error: Error | null; outlook: RestoreOutlook | null }) {
  if (error !== null) {
    const isAtBox = said(error, 'as') !== undefined || said(error, 'without[0]') !== undefined;
    return isAtBox ? null : <ProblemAlert error={error} />;
  }
  return outlook === null ? <Waiting label="Dry run" height="60px" /> : <Outlook outlook={outlook} />;
}

function Outlook({ outlook: { comes, stays, refused } }: { outlook: RestoreOutlook }) {
  return (
    <Stack gap="xs">
      {refused.map((message) => (
        <Alert key={message} color="red" title="It cannot be restored with these options">
          {message}
        </Alert>
      ))}
      {comes.map((message) => (
        <Text size="sm" key={message}>
          {message}
        </Text>
      ))}
      {stays.length > 0 && (
        <Caution title="Not restored">
          {stays.map((message) => (
            <Text size="sm" key={message}>
              {message}
            </Text>
          ))}
        </Caution>
      )}
      {refused.length === 0 && stays.length === 0 && (
        <Text size="sm">The dry run succeeded. Everything is restored, including the rows.</Text>
      )}
    </Stack>
  );
}

function Done({ back: { data, warnings = [] }, onClose }: { back: Back; onClose: () => void }) {
  const search = data.field === undefined ? {} : { field: data.field };
  return (
    <Stack>
      <Text>
        <Link to="/collections/$name" params={{ name: data.collection }} search={search} onClick={onClose}>
          {data.field === undefined ? data.collection : `${data.collection}.${data.field}`}
        </Link>{' '}
        is restored.
      </Text>
      {warnings.map(({ message }) => (
        <Text size="sm" key={message}>
          {message}
        </Text>
      ))}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
