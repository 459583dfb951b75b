/* Lists deleted objects that can be restored with their rows. */
import { Badge, Button, Group, Text, Alert, Modal, Stack, TagsInput, TextInput } from '@mantine/core';
import { useQuery, keepPreviousData, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { useDebouncedValue } from '@mantine/hooks';
import { trashQuery, type Restoring, restore, restorePlanQuery, purge } from '../../service/operations-queries.js';
import type { TrashEntry, Plan } from '../../service/types.js';
import { useRole } from '../../service/session.js';
import { bytesText } from '../../shared/text.js';
import { QueryResult, ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import { useTitle } from '../../shared/page.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';
import { ServiceError } from '../../service/send.js';
import { SCHEMA } from '../../service/queries.js';
import { Caution, ReasonInput, useLacksReason } from '../../shared/form.js';
import { SteadyButton } from '../../shared/buttons.js';
import { actorName } from '../../../schema/model/events.js';
import { Name, visibleName } from '../../shared/name.js';
import { messages as frame } from './messages.js';
import { messages } from './settings-messages.js';

const { common, trash: texts } = messages;

/** Returns `articles` or `articles.title`. */
export const nameOf = ({ collection, field }: Pick<TrashEntry, 'collection' | 'field'>): string =>
  field === null ? collection : `${collection}.${field}`;

/* Summarizes the plan of a restore. */

export interface RestoreOutlook {
  /** The objects that are restored, in the words of the service. */
  comes: string[];
  /** The objects that are not restored, with reasons. */
  stays: string[];
  /** Other findings of the plan, such as locks and rewrites. */
  findings: string[];
  /** The PostgreSQL errors. Empty if it accepts the restore. */
  refused: string[];
}

const LEFT_OUT: ReadonlySet<string> = new Set(['NOT_RESTORED', 'DATA_NOT_RESTORED']);

/** Summarizes a plan. If all lists are empty, everything is restored without notes. */
export function outlookOf({ accepted, errors = [], warnings }: Plan): RestoreOutlook {
  const comes = warnings.filter(({ code }) => code === 'DATA_RESTORED');
  const stays = warnings.filter(({ code }) => LEFT_OUT.has(code));
  const findings = warnings.filter(({ code }) => code !== 'DATA_RESTORED' && !LEFT_OUT.has(code));
  const causes = errors.map(({ message }) => message);
  return {
    comes: comes.map(({ message }) => message),
    stays: stays.map(({ message }) => message),
    findings: findings.map(({ message }) => message),
    refused: accepted || causes.length > 0 ? causes : [messages.restore.rejected],
  };
}

/* Restores from the trash. A dry run shows first what cannot be restored. */

/** Milliseconds without input after which a dry run starts. */
const PAUSE = 400;

type RestoreResult = Awaited<ReturnType<typeof restore>>;

/**
 * Restores a trash entry. A dry run starts when the dialog opens and after each pause in typing. Input that would be
 * rejected cannot be sent. Afterwards, the restored object is opened.
 */
export function RestoreDialog({ entry, onClose }: { entry: TrashEntry; onClose: () => void }) {
  const [back, setBack] = useState<RestoreResult | null>(null);
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={texts.restoreOf(nameOf(entry))}
      closeButtonProps={{ 'aria-label': frame.close }}
    >
      {back === null ? <Form entry={entry} onDone={setBack} /> : <Done back={back} onClose={onClose} />}
    </Modal>
  );
}

function Form({ entry, onDone }: { entry: TrashEntry; onDone: (back: RestoreResult) => void }) {
  const [restoring, setRestoring] = useState<Restoring>({ as: '', without: [] });
  const [reason, setReason] = useState('');
  const lacksReason = useLacksReason(reason);
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
  const at = (path: string) => messageOf(error, path);
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
          label={messages.restore.newName}
          placeholder={entry.field ?? entry.collection}
          data-autofocus
          value={restoring.as}
          error={at('as')}
          onChange={(event) => change({ as: event.currentTarget.value })}
        />
        <TagsInput
          label={messages.restore.skippedKeys}
          description={messages.restore.aboutSkippedKeys}
          data={[...(plan.data?.optional ?? [])]}
          value={[...restoring.without]}
          error={at('without[0]')}
          onChange={(without) => change({ without })}
          clearButtonProps={{ 'aria-label': common.clear }}
        />
        <ReasonInput value={reason} onChange={setReason} />
        <div role="status" aria-live="polite">
          <Tried error={error} outlook={outlook} />
        </div>
        <Group justify="flex-end">
          <SteadyButton
            type="submit"
            loading={bring.isPending}
            disabled={plan.isFetching || !canBeRestored(outlook) || lacksReason}
          >
            {texts.restore}
          </SteadyButton>
        </Group>
      </Stack>
    </form>
  );
}

const messageOf = (error: Error | null, path: string): string | undefined =>
  error instanceof ServiceError ? error.at(path) : undefined;

const canBeRestored = (outlook: RestoreOutlook | null): boolean => outlook?.refused.length === 0;

/** Shows the result of the dry run. An error that is shown at its input is not repeated. */
function Tried({ error, outlook }: { error: Error | null; outlook: RestoreOutlook | null }) {
  if (error !== null) {
    const isAtBox = messageOf(error, 'as') !== undefined || messageOf(error, 'without[0]') !== undefined;
    return isAtBox ? null : <ProblemAlert error={error} />;
  }
  return outlook === null ? (
    <LoadingIndicator label={messages.restore.trying} height="60px" />
  ) : (
    <Outlook outlook={outlook} />
  );
}

function Outlook({ outlook: { comes, stays, findings, refused } }: { outlook: RestoreOutlook }) {
  return (
    <Stack gap="xs">
      {refused.map((message) => (
        <Alert key={message} color="red" title={messages.restore.impossible}>
          {message}
        </Alert>
      ))}
      {comes.map((message) => (
        <Text size="sm" key={message}>
          {message}
        </Text>
      ))}
      <Notes title={messages.restore.notRestored} lines={stays} />
      <Notes title={messages.policy.findings} lines={findings} />
      {refused.length === 0 && stays.length === 0 && <Text size="sm">{messages.restore.complete}</Text>}
    </Stack>
  );
}

function Notes({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <Caution title={title}>
      {lines.map((line) => (
        <Text size="sm" key={line}>
          {line}
        </Text>
      ))}
    </Caution>
  );
}

function Done({ back: { data, warnings = [] }, onClose }: { back: RestoreResult; onClose: () => void }) {
  const field = 'field' in data ? data.field : undefined;
  const search = field === undefined ? {} : { field };
  return (
    <Stack>
      <Text>
        {messages.restore.restored(
          <Link to="/collections/$name" params={{ name: data.collection }} search={search} onClick={onClose}>
            {field === undefined ? data.collection : `${data.collection}.${field}`}
          </Link>,
        )}
      </Text>
      {warnings.map(({ message }) => (
        <Text size="sm" key={message}>
          {message}
        </Text>
      ))}
      <Group justify="flex-end">
        <Button onClick={onClose}>{common.done}</Button>
      </Group>
    </Stack>
  );
}

/* A purge is permanent, so the user must type the name. */

/** Purges an entry. The dialog closes when the purge is done, and shows errors. */
export function PurgeDialog({ entry, onClose }: { entry: TrashEntry; onClose: () => void }) {
  const name = nameOf(entry);
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const lacksReason = useLacksReason(reason);
  const client = useQueryClient();
  const done = useMutation({
    mutationFn: () => purge(entry, reason),
    onSuccess: () => client.invalidateQueries({ queryKey: [SCHEMA] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // Closes only the dialog that is still open.
    done.mutate(undefined, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title={texts.purgeOf(name)} closeButtonProps={{ 'aria-label': frame.close }}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{messages.purge.warning(entry.rows)}</Text>
          <TextInput
            label={messages.purge.confirm(<Name of={name} />)}
            autoComplete="off"
            data-autofocus
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <ReasonInput value={reason} onChange={setReason} />
          {done.error !== null && <ProblemAlert error={done.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {messages.purge.cancel}
            </Button>
            <SteadyButton
              type="submit"
              color="red.8"
              disabled={![name, visibleName(name)].includes(typed) || lacksReason}
              loading={done.isPending}
            >
              {messages.purge.submit}
            </SteadyButton>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

type OpenDialog = { what: 'restore' | 'purge'; entry: TrashEntry } | null;

export function TrashTab() {
  useTitle(frame.titleOf(frame.tabs.trash));
  const trash = useQuery(trashQuery());
  const [open, setOpen] = useState<OpenDialog>(null);
  const close = () => setOpen(null);
  return (
    <>
      <QueryResult query={trash} label={texts.loading}>
        {({ data: entries, meta: { total_count: total = 0 } = {} }) =>
          entries.length === 0 ? (
            <Empty />
          ) : (
            <>
              <ul className={classes.cards} aria-label={frame.tabs.trash}>
                {entries.map((entry) => (
                  <Entry key={entry.position} entry={entry} onOpen={(what) => setOpen({ what, entry })} />
                ))}
              </ul>
              {total > entries.length && (
                <Text size="sm" c="dimmed">
                  {texts.newest(entries.length, total, <code>{'dps trash'}</code>)}
                </Text>
              )}
            </>
          )
        }
      </QueryResult>
      {open?.what === 'restore' && <RestoreDialog entry={open.entry} onClose={close} />}
      {open?.what === 'purge' && <PurgeDialog entry={open.entry} onClose={close} />}
    </>
  );
}

function Empty() {
  return (
    <div className={classes.empty}>
      <Text fw={600}>{texts.empty}</Text>
      <Text size="sm" mt={4}>
        {texts.aboutEmpty}
      </Text>
    </div>
  );
}

function Entry({ entry, onOpen }: { entry: TrashEntry; onOpen: (what: 'restore' | 'purge') => void }) {
  const { kind, rows, bytes, deleted_at: since, kept_until: until, deleted_by: who, batch } = entry;
  const name = nameOf(entry);
  const size = [...(rows === null ? [] : [texts.rows(rows)]), ...(bytes === null ? [] : [bytesText(bytes)])];
  const isAdmin = useRole() === 'admin';
  return (
    <li className={classes.card}>
      <div className={classes.head}>
        <div className={classes.words}>
          <Group gap="xs">
            <Text fw={600}>
              <Name of={name} />
            </Text>
            <Badge variant="default" tt="none" fw={500} size="sm">
              {texts.kinds[kind]}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed" mt={4}>
            {texts.deletion({
              size,
              by: who && actorName(who),
              since: (
                <Link to="/timeline" search={{ batch }}>
                  <Time at={since} />
                </Link>
              ),
              day: <Time at={until} as="day" />,
              until: <Time at={until} />,
            })}
          </Text>
        </div>
        {isAdmin && (
          <Group gap="xs">
            <Button size="xs" onClick={() => onOpen('restore')} aria-label={texts.restoreOf(name)}>
              {texts.restore}
            </Button>
            <Button size="xs" variant="default" onClick={() => onOpen('purge')} aria-label={texts.purgeOf(name)}>
              {texts.purge}
            </Button>
          </Group>
        )}
      </div>
    </li>
  );
}
