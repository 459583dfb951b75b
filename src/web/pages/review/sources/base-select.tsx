import { Button, Collapse, Group, NativeSelect, Text, TextInput, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Resolution } from '../../../../schema/merge/model.js';
import { environmentsQuery } from '../../../service/operations-queries.js';
import { keptQuery, momentsQuery, readPast, mergeEnvironment } from '../../../service/review-queries.js';
import { useMay } from '../../../service/session.js';
import { SteadyButton } from '../../../shared/buttons.js';
import { ChangeList } from '../../../shared/changes/change-list.js';
import { changesOf } from '../../../shared/changes/sentences.js';
import { Decide, conflictsIn } from '../../../shared/conflicts/decide.js';
import { Page, useTitle } from '../../../shared/page.js';
import { SnapshotMenu } from '../../../shared/snapshot/snapshot-menu.js';
import { abbreviate, startOf } from '../../../shared/text.js';
import { Frame } from '../parts/notes.js';
import classes from '../parts/parts.module.css';
import { renewalOf } from '../use-review.js';
import { Workspace } from '../workspace.js';
import { locale } from '../../../shared/language.js';

/** A review must not change while it is read, so it is refetched only on request. */
export const STILL = { staleTime: Infinity, gcTime: 0 } as const;

/** @param props.to a position or a time */
export function PastSource({ to }: { to: string }) {
  const query = useQuery({ ...STILL, queryKey: ['review', 'past', to], queryFn: ({ signal }) => readPast(to, signal) });
  const title = `Go back to ${momentText(to)}`;
  const about = (
    <Group gap="md" justify="space-between">
      The service reverts later changes with new events. It deletes nothing from the event log.
      <SnapshotMenu at={to} size="compact-sm" />
    </Group>
  );
  return (
    <Frame title={title} query={query} label="Comparing the schemas">
      {(reviewed) => (
        <Workspace
          source={{
            key: `past ${to}`,
            title,
            about,
            reviewed,
            isWhole: true,
            renewal: renewalOf(query),
            onApplied: () => undefined,
          }}
        />
      )}
    </Frame>
  );
}

const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });

/** Returns a position as a number, or a time in the viewer's zone. */
export function momentText(to: string): string {
  if (/^\d+$/.test(to)) return to === '0' ? 'the beginning' : `event ${Number(to).toLocaleString(locale)}`;
  const time = new Date(to);
  return Number.isNaN(time.getTime()) ? to : exact.format(time);
}

/** Compares the file with the current schema. */
export const NOW = 'now';
const OTHER = 'other';

export type Base = string | number;

interface PresentBaseProps {
  base: Base;
  /** The position or the time in the file name. Null if there is none. */
  named: Base | null;
  onChange: (base: Base) => void;
}

/**
 * Selects the point in time of a file. Users who may read the history can choose a recent one, and all users can type a
 * time.
 * @param props.onChange called with a position, a time or `NOW`
 */
export function BaseSelect({ base, named, onChange }: PresentBaseProps) {
  const [isOther, setOther] = useState(false);
  const { data: moments = [] } = useQuery({ ...momentsQuery(), enabled: useMay('readHistory') });
  const offered = [
    { value: NOW, label: 'Current schema' },
    ...(named === null ? [] : [{ value: String(named), label: `${momentText(String(named))} (from the file name)` }]),
    ...moments
      .filter(({ last_position: position }) => position !== named)
      .map(({ last_position: position, occurred_at: at, summary }) => ({
        value: String(position),
        label: `Event ${position.toLocaleString(locale)}, ${momentText(at)}: ${abbreviate(summary, 60)}`,
      })),
  ];
  const isListed = offered.some(({ value }) => value === String(base));
  const data = [
    ...offered,
    ...(isListed ? [] : [{ value: String(base), label: momentText(String(base)) }]),
    { value: OTHER, label: 'Other date and time …' },
  ];
  return (
    <Group gap="sm" align="flex-end">
      <NativeSelect
        label="Created from"
        size="xs"
        data={data}
        value={isOther ? OTHER : String(base)}
        onChange={({ currentTarget: { value } }) => {
          setOther(value === OTHER);
          if (value !== OTHER) onChange(/^\d+$/.test(value) ? Number(value) : value);
        }}
      />
      {isOther && <MadeAt onChoose={onChange} />}
    </Group>
  );
}

/** The input of a time. It applies only after confirmation, because an incomplete input can also be valid. */
function MadeAt({ onChoose }: { onChoose: (time: string) => void }) {
  const [typed, setTyped] = useState('');
  const time = startOf(typed);
  const choose = () => time !== null && onChoose(time);
  return (
    <>
      <TextInput
        type="datetime-local"
        size="xs"
        label="Created at"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && choose()}
      />
      <SteadyButton size="xs" variant="default" disabled={time === null} onClick={choose}>
        Compare
      </SteadyButton>
    </>
  );
}

/**
 * Warns that the time of the file is unknown. Concurrent changes that are missing from the file are therefore undone.
 */
export function UnknownBaseNote() {
  return (
    <Text size="sm">
      The file is compared with the current schema, and differing changes are reverted. To keep later changes, choose
      the schema that the file was created from.
    </Text>
  );
}

interface ChosenBaseProps {
  base: Base;
  /** The position of the merged schema. */
  position: number;
  onTakeBack: () => void;
}

/** Shows the changes by others since the time of the file. They are kept. */
export function KeptChangesNote({ base, position, onTakeBack }: ChosenBaseProps) {
  const [isOpen, setOpen] = useState(false);
  const { data: diff } = useQuery(keptQuery(base, position));
  if (diff === undefined) return null;
  const changes = changesOf(diff);
  if (changes.length === 0) return <Text size="sm">The schema has not changed since then.</Text>;
  const what = changes.length === 1 ? 'One object has' : `${changes.length.toLocaleString(locale)} objects have`;
  return (
    <>
      <Group gap="sm">
        <Text size="sm">
          {what} changed since then. These changes are kept unless the file changes the same values.
        </Text>
        <Button size="compact-xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide changes' : 'Show changes'}
        </Button>
        <Button size="compact-xs" variant="default" onClick={onTakeBack}>
          Revert these too
        </Button>
      </Group>
      <Collapse expanded={isOpen}>
        {isOpen && (
          <div className={classes.theirs}>
            <ChangeList changes={changes} />
          </div>
        )}
      </Collapse>
    </>
  );
}

/* The review of the changes that an environment has and this service lacks. */

export function EnvironmentSource({ id }: { id: string }) {
  const { data: environments = [] } = useQuery(environmentsQuery());
  const environment = environments.find((each) => each.id === id);
  const title = environment === undefined ? 'Changes in an environment' : `Changes from ${environment.name}`;
  useTitle(`${title} · Review`);
  const [resolve, setResolve] = useState<readonly Resolution[]>([]);
  const query = useQuery({
    ...STILL,
    queryKey: ['review', 'environment', id, resolve],
    queryFn: ({ signal }) => mergeEnvironment(id, resolve, signal),
  });
  const conflicts = conflictsIn(query.error);
  if (conflicts !== null)
    return (
      <Page>
        <Stack gap="lg">
          <Title order={1} size="h3">
            <bdi>{title}</bdi>
          </Title>
          <Decide
            // Earlier choices do not apply to these conflicts.
            key={conflicts.map(({ message }) => message).join('\n')}
            conflicts={conflicts}
            before={resolve}
            mine="environment"
            isBusy={query.isFetching}
            onDecided={setResolve}
          />
        </Stack>
      </Page>
    );
  return (
    <Frame title={title} query={query} label="Comparing with the environment">
      {(reviewed) => (
        <Workspace
          source={{
            key: `environment ${id}`,
            title,
            about: (
              <Text size="sm">
                The changes in the environment since the last schema that both had in common. Changes in this service
                are kept.
              </Text>
            ),
            reviewed,
            isWhole: false,
            renewal: renewalOf(query),
            onApplied: () => undefined,
          }}
        />
      )}
    </Frame>
  );
}
