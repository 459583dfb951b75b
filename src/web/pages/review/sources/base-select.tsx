import { Button, Collapse, Group, NativeSelect, Text, TextInput, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Resolution } from '../../../../schema/merge/model.js';
import { type Head, draftDiff, resolveConflict } from '../../../draft/diff.js';
import { remainingDraft } from '../../../draft/edits.js';
import { type Draft, namesIn, touchedAtHead } from '../../../draft/model.js';
import { editDraft, readHead } from '../../../draft/store.js';
import { environmentsQuery } from '../../../service/operations-queries.js';
import { keptQuery, momentsQuery, readPast, mergeEnvironment } from '../../../service/review-queries.js';
import { useMay } from '../../../service/session.js';
import { SteadyButton } from '../../../shared/buttons.js';
import { ChangeList } from '../../../shared/changes/change-list.js';
import { changesOf, objectTitle, valueText } from '../../../shared/changes/sentences.js';
import { Decide, conflictsIn } from '../../../shared/conflicts/decide.js';
import { Page, useTitle } from '../../../shared/page.js';
import { SnapshotMenu } from '../../../shared/snapshot/snapshot-menu.js';
import { abbreviate, startOf } from '../../../shared/text.js';
import { keyOf, leftOutOf, memberKeyOf, titleOf } from '../model/items.js';
import { messages as changes } from '../model/messages.js';
import { Frame } from '../parts/notes.js';
import classes from '../parts/parts.module.css';
import { type RefreshState, renewalOf } from '../use-review.js';
import { Workspace } from '../workspace.js';
import { locale } from '../../../shared/language.js';
import { messages as frame } from '../messages.js';
import { messages } from './messages.js';

const { base: texts, draft: draftTexts, environment: environmentTexts, past: pastTexts } = messages;
const { values } = changes;

/** A review must not change while it is read, so it is refetched only on request. */
export const STILL = { staleTime: Infinity, gcTime: 0 } as const;

/** @param props.to a position or a time */
export function PastSource({ to }: { to: string }) {
  const query = useQuery({ ...STILL, queryKey: ['review', 'past', to], queryFn: ({ signal }) => readPast(to, signal) });
  const title = pastTexts.title(momentText(to));
  const about = (
    <Group gap="md" justify="space-between">
      {pastTexts.about}
      <SnapshotMenu at={to} size="compact-sm" />
    </Group>
  );
  return (
    <Frame title={title} query={query} label={pastTexts.loading}>
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
  if (/^\d+$/.test(to)) return to === '0' ? pastTexts.beginning : pastTexts.event(Number(to));
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
    { value: NOW, label: texts.current },
    ...(named === null ? [] : [{ value: String(named), label: texts.fromName(momentText(String(named))) }]),
    ...moments
      .filter(({ last_position: position }) => position !== named)
      .map(({ last_position: position, occurred_at: at, summary }) => ({
        value: String(position),
        label: texts.change(position, momentText(at), abbreviate(summary, 60)),
      })),
  ];
  const isListed = offered.some(({ value }) => value === String(base));
  const data = [
    ...offered,
    ...(isListed ? [] : [{ value: String(base), label: momentText(String(base)) }]),
    { value: OTHER, label: texts.other },
  ];
  return (
    <Group gap="sm" align="flex-end">
      <NativeSelect
        label={texts.label}
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
        label={texts.time}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && choose()}
      />
      <SteadyButton size="xs" variant="default" disabled={time === null} onClick={choose}>
        {messages.compare}
      </SteadyButton>
    </>
  );
}

/**
 * Warns that the time of the file is unknown. Concurrent changes that are missing from the file are therefore undone.
 */
export function UnknownBaseNote() {
  return <Text size="sm">{texts.unknown}</Text>;
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
  if (changes.length === 0) return <Text size="sm">{texts.unchanged}</Text>;

  return (
    <>
      <Group gap="sm">
        <Text size="sm">{texts.kept(changes.length)}</Text>
        <Button size="compact-xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? texts.hide : texts.show}
        </Button>
        <Button size="compact-xs" variant="default" onClick={onTakeBack}>
          {texts.revertToo}
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
  const title = environment === undefined ? environmentTexts.unnamed : environmentTexts.title(environment.name);
  useTitle(frame.titleOf(title));
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
    <Frame title={title} query={query} label={environmentTexts.loading}>
      {(reviewed) => (
        <Workspace
          source={{
            key: `environment ${id}`,
            title,
            about: <Text size="sm">{environmentTexts.about}</Text>,
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

/* The review of the draft on top of the head that was read. */

/**
 * Reviews the draft. It is not refetched while the same collections are edited.
 * @param props.draft a draft that is not empty
 */
export function DraftSource({ draft }: { draft: Draft }) {
  const touched = useMemo(() => touchedAtHead(draft), [draft]);
  const query = useQuery({
    ...STILL,
    queryKey: ['review', 'draft', touched],
    queryFn: ({ signal }) => readHead(draft, signal),
  });
  return (
    <Frame title={draftTexts.title} query={query} label={draftTexts.loading}>
      {(head) => <OnHead draft={draft} head={head} renewal={renewalOf(query)} />}
    </Frame>
  );
}

interface DraftProps {
  draft: Draft;
  head: Head;
  renewal: RefreshState;
}

function OnHead({ draft, head, renewal }: DraftProps) {
  const { hash, diff, conflicts } = useMemo(() => draftDiff(draft, head), [draft, head]);
  const reviewed = useMemo(
    () => ({ hash, position: head.position, diff: diff as never, warnings: [] }),
    [hash, diff, head.position],
  );
  const descriptions = conflicts.map((conflict) => {
    const { part, path, base, mine, theirs } = conflict;
    const { collection, field, kind } = namesIn(part, conflict.key);
    const key = keyOf(part, collection, kind ?? field);
    return {
      key: path.length === 0 ? key : memberKeyOf(key, path),
      name: kind === null ? titleOf({ collection, field }) : objectTitle({ kind, id: collection }),
      path,
      base: wordOf(base, path),
      mine: wordOf(mine, path),
      theirs: wordOf(theirs, path),
      settle: (choice: 'mine' | 'theirs') => editDraft((before) => resolveConflict(before, head, conflict, choice)),
    };
  });
  return (
    <Workspace
      source={{
        // Another draft has another position, so that it has its own stored input.
        key: `draft ${draft.position}`,
        title: draftTexts.title,
        about: draftTexts.about,
        reviewed,
        isWhole: false,
        renewal,
        conflicts: descriptions,
        onApplied: (left) => editDraft((now) => remainingDraft(now, draft, leftOutOf(left))),
      }}
    />
  );
}

/** A document as a whole either exists or not. Its members are among the changes. */
const wordOf = (value: unknown, path: readonly string[]): string =>
  path.length > 0 ? valueText(value) : value === undefined || value === null ? values.absent : values.present;
