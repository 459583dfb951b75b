import verifiedIcon from 'icon:verified';
import {
  Button,
  Group,
  Text,
  Title,
  Alert,
  Badge,
  UnstyledButton,
  Autocomplete,
  NativeSelect,
  TextInput,
} from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useMemo, useEffect, useState, type ReactNode, useId, useRef } from 'react';
import openIcon from 'icon:expand_more';
import { usersQuery } from '../../service/account-queries.js';
import { batchesQuery, batchQuery } from '../../service/history-queries.js';
import type { Batch } from '../../service/types.js';
import { Glyph } from '../../shared/glyph.js';
import { LoadMoreButton, ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import { Page, useTitle } from '../../shared/page.js';
import { dayOf, Time } from '../../shared/time.js';
import { type TimelineSearch, filterOf } from './search.js';
import classes from './page.module.css';
import { abbreviate } from '../../shared/text.js';
import { ChangeList, useBatchChanges } from '../../shared/changes/change-list.js';
import { useMay } from '../../service/session.js';
import { actorName } from '../../../schema/model/events.js';
import filterIcon from 'icon:filter_list';
import searchIcon from 'icon:search';
import { useDebouncedCallback } from '@mantine/hooks';
import { collectionsQuery } from '../../service/queries.js';
import { useHere } from '../../shared/focus.js';
import { messages } from './messages.js';

const { change: changeTexts, comparing: comparingTexts, filters: filterTexts } = messages;

/* Links from a change: the schema at that time, a revert, and a comparison. */

interface BatchLinksProps {
  batch: Batch;
  /** The position selected for a comparison. */
  from: number | undefined;
  onFrom: (position: number) => void;
}

/**
 * Links to actions on a change. Only admins can revert. Compared positions are sorted.
 * @param props.onFrom called with the position of this change to select it
 */
function Ways({ batch: { last_position: position }, from, onFrom }: BatchLinksProps) {
  const mayGoBack = useMay('carryOut');
  return (
    <Group gap="xs" mb="md">
      <Button component={Link} to="/" search={{ at: position } as never} size="xs" variant="default">
        {changeTexts.showSchema}
      </Button>
      {from === undefined || from === position ? (
        <Button size="xs" variant="default" disabled={from === position} onClick={() => onFrom(position)}>
          {from === position ? changeTexts.chooseAnother : changeTexts.compare}
        </Button>
      ) : (
        <Button
          component={Link}
          to="/timeline/compare"
          search={orderRange(from, position) as never}
          size="xs"
          variant="default"
        >
          {changeTexts.compareWith(from)}
        </Button>
      )}
      {mayGoBack && (
        <Button component={Link} to="/review" search={{ to: position } as never} size="xs" variant="default">
          {changeTexts.goBack}
        </Button>
      )}
    </Group>
  );
}

const orderRange = (one: number, other: number) => ({ from: Math.min(one, other), to: Math.max(one, other) });

interface BatchItemProps {
  batch: Batch;
  isOpen: boolean;
  onToggle: () => void;
  from?: number | undefined;
  onFrom: (position: number) => void;
}

/**
 * Shows a change. Its details are loaded when it is opened.
 * @param props.from the position that is selected for a comparison, if any
 */
function BatchItem({ batch, isOpen, onToggle, from, onFrom }: BatchItemProps) {
  const { actor, summary, reason, occurred_at: at, events, last_position: position } = batch;
  const details = useId();
  return (
    <li className={classes.batch} data-open={isOpen || undefined}>
      <UnstyledButton className={classes.line} aria-expanded={isOpen} aria-controls={details} onClick={onToggle}>
        <span className={classes.chevron} data-open={isOpen}>
          <Glyph path={openIcon} />
        </span>
        <span className={classes.what}>
          <Text component="span" size="sm" fw={550} className={classes.summary}>
            {abbreviate(summary, 240)}
          </Text>
          {reason !== null && (
            <Text component="span" size="sm" className={classes.reason}>
              {abbreviate(reason, 300)}
            </Text>
          )}
          <Text component="span" size="xs" c="dimmed">
            {changeTexts.author({ name: actorName(actor), time: <Time at={at} as="clock" />, events, position })}
          </Text>
        </span>
      </UnstyledButton>
      <div id={details}>
        {isOpen && <Details batch={batch} ways={<Ways batch={batch} from={from} onFrom={onFrom} />} />}
      </div>
    </li>
  );
}

function Details({ batch, ways }: { batch: Batch; ways: ReactNode }) {
  const { command, ip, user_agent: agent, request_id: request } = batch;
  const { data, more, error, refetch } = useBatchChanges(batch);
  return (
    <div className={classes.details}>
      {ways}
      <Group gap={6} mb="md">
        {[command, ip, agent, request && changeTexts.request(request)].map((fact) =>
          fact ? (
            <Badge key={fact} variant="default" tt="none" fw={500} size="sm" maw="100%">
              {abbreviate(fact, 80)}
            </Badge>
          ) : null,
        )}
      </Group>
      {error !== null && <ProblemAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <LoadingIndicator label={changeTexts.loading} height="100px" />}
      {data && <ChangeList changes={data} more={more} hasTotal />}
    </div>
  );
}

/* Adds new changes at the top only while the user has not scrolled down. */

/** Number of pixels from the top within which the page counts as not scrolled. */
const TOP = 40;

interface SettledBatches {
  shown: readonly Batch[];
  /** The number of changes that are held back. */
  fresh: number;
  show: () => void;
}

/**
 * @param batches the batches, newest first
 * @param isReading true while a change is open, so that nothing must move
 * @returns all batches at first. Later ones are held back until `show` is called or the page is at its top
 */
function useSettled(batches: readonly Batch[], isReading: boolean): SettledBatches {
  const newest = batches[0]?.last_position ?? 0;
  const [held, setHeld] = useState(newest);
  useEffect(() => {
    if (newest > held && !isReading && isAtTop()) setHeld(newest);
  }, [newest, held, isReading]);
  // With another filter, the list may end before the newest change that was shown.
  const upTo = Math.min(held, newest);
  const shown = newest > held ? batches.filter(({ last_position: last }) => last <= upTo) : batches;
  // Without this, a filter without older matches would leave the page empty.
  const isAll = shown.length === 0;
  return {
    shown: isAll ? batches : shown,
    fresh: isAll ? 0 : batches.length - shown.length,
    show: () => {
      setHeld(newest);
      document.getElementById('page')?.scrollTo({ top: 0 });
    },
  };
}

const isAtTop = (): boolean => (document.getElementById('page')?.scrollTop ?? 0) < TOP;

interface Props {
  id: string;
  onClose: () => void;
  from?: number | undefined;
  onFrom: (position: number) => void;
}

/**
 * Shows the change of a link. Renders nothing while loading, and a message for an unknown change.
 * @param props.id the id of the batch
 */
function LinkedBatch({ id, onClose, ...comparing }: Props) {
  const { data: batch, error } = useQuery(batchQuery(id));
  if (error !== null) return <ProblemAlert error={error} />;
  if (batch === undefined) return null;
  if (batch === null) return <Text c="dimmed">{messages.unknown}</Text>;
  return (
    <section aria-label={messages.linked}>
      <h2 className={classes.day}>{dayOf(batch.occurred_at)}</h2>
      <ol className={classes.batches}>
        <BatchItem batch={batch} isOpen onToggle={onClose} {...comparing} />
      </ol>
    </section>
  );
}

/** @param props.from a position */
function Comparing({ from, onStop }: { from: number; onStop: () => void }) {
  return (
    <Alert variant="light" color="iris" my="sm" role="status" aria-label={comparingTexts.label}>
      <Group gap="sm">
        <Text size="sm">{comparingTexts.hint(from)}</Text>
        <Button component={Link} to="/timeline/compare" search={{ from, to: 'now' } as never} size="xs">
          {comparingTexts.withCurrent}
        </Button>
        <Button size="xs" variant="default" onClick={onStop}>
          {comparingTexts.cancel}
        </Button>
      </Group>
    </Alert>
  );
}

const route = getRouteApi('/timeline');

/**
 * Shows the timeline, grouped by days in the viewer's zone. Filters, the open change and the comparison are in the
 * address.
 */
export function TimelinePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(messages.title);
  const filter = useMemo(() => filterOf(search), [search]);
  const changes = useInfiniteQuery(batchesQuery(filter));
  const { data, error, refetch, isFetchNextPageError: isOfMore } = changes;
  const change = (changed: Partial<TimelineSearch>) =>
    void navigate({ search: (before: TimelineSearch) => ({ ...before, ...changed }), replace: true });
  return (
    <Page>
      <Group justify="space-between">
        <Title order={1} size="h3">
          {messages.title}
        </Title>
        <Group gap="xs">
          <Button component={Link} to="/timeline/compare" size="xs" variant="default">
            {messages.comparePoints}
          </Button>
          <Button
            component={Link}
            to="/verification"
            size="xs"
            variant="default"
            leftSection={<Glyph path={verifiedIcon} size={16} />}
          >
            {messages.verification}
          </Button>
        </Group>
      </Group>
      <Filters search={search} onChange={change} />
      {error !== null && !isOfMore && <ProblemAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <LoadingIndicator label={messages.loading} height="200px" />}
      {data && <Batches batches={data.pages.flatMap((page) => page.data)} search={search} onChange={change} />}
      <LoadMoreButton of={changes}>{messages.older}</LoadMoreButton>
    </Page>
  );
}

interface BatchesProps {
  batches: readonly Batch[];
  search: TimelineSearch;
  onChange: (changed: Partial<TimelineSearch>) => void;
}

function Batches({ batches, search, onChange }: BatchesProps) {
  const open = search.batch;
  const { shown, fresh, show } = useSettled(batches, open !== undefined);
  const comparing = { from: search.from, onFrom: (from: number) => onChange({ from }) };
  const isElsewhere = open !== undefined && !batches.some(({ batch }) => batch === open);
  return (
    <>
      {isElsewhere && <LinkedBatch id={open} onClose={() => onChange({ batch: undefined })} {...comparing} />}
      {search.from !== undefined && <Comparing from={search.from} onStop={() => onChange({ from: undefined })} />}
      {fresh > 0 && (
        <Button className={classes.fresh} radius="xl" size="xs" onClick={show}>
          {messages.newChanges(fresh)}
        </Button>
      )}
      {batches.length === 0 && <Nothing isFiltered={Object.keys(search).length > 0} />}
      {byDay(shown).map(([day, items]) => (
        <section key={day}>
          <Title order={2} className={classes.day}>
            {day}
          </Title>
          <ol className={classes.batches}>
            {items.map((batch) => (
              <BatchItem
                key={batch.batch}
                batch={batch}
                isOpen={batch.batch === open}
                onToggle={() => onChange({ batch: batch.batch === open ? undefined : batch.batch })}
                {...comparing}
              />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return (
    <Text c="dimmed" py="xl" ta="center">
      {isFiltered ? messages.noMatches : messages.noChanges}
    </Text>
  );
}

/** Groups batches by day, in order. */
function byDay(batches: readonly Batch[]): [day: string, batches: Batch[]][] {
  const days = new Map<string, Batch[]>();
  for (const batch of batches) {
    const day = dayOf(batch.occurred_at);
    days.set(day, [...(days.get(day) ?? []), batch]);
  }
  return [...days];
}

interface FiltersProps {
  search: TimelineSearch;
  onChange: (changed: Partial<TimelineSearch>) => void;
}

const NAMES = ['q', 'collection', 'field', 'type', 'actor', 'since', 'until'] as const;

/** Common event types; the address accepts all others. */
const TYPES = [
  'collection.created',
  'collection.updated',
  'collection.renamed',
  'collection.deleted',
  'collection.adopted',
  'field.created',
  'field.updated',
  'field.renamed',
  'field.deleted',
  'relation.created',
  'relation.updated',
  'relation.deleted',
];

/** Milliseconds without input after which a request is sent. */
const TYPING = 350;

/**
 * Shows the filters. Text applies after a short pause, and dates and choices apply immediately. The address initializes
 * the inputs, again when all filters are cleared.
 * @param props.onChange called with changes. Undefined removes a filter
 */
function Filters(props: FiltersProps) {
  const isFiltered = NAMES.some((name) => props.search[name] !== undefined);
  // On a phone, all inputs would fill half of the screen.
  const [isOpen, setOpen] = useState(NAMES.some((name) => name !== 'q' && props.search[name] !== undefined));
  // Resets the inputs after the clear button.
  const [round, setRound] = useState(0);
  const clear = () => {
    props.onChange(Object.fromEntries(NAMES.map((name) => [name, undefined])));
    setRound(round + 1);
  };
  return (
    <Group gap="sm" my="md" align="flex-end" role="search" aria-label={filterTexts.label}>
      <div key={round} id="timeline-filters" className={classes.filters} data-open={isOpen}>
        <Boxes {...props} />
      </div>
      <Button
        className={classes.unfold}
        variant="default"
        leftSection={<Glyph path={filterIcon} size={16} />}
        aria-expanded={isOpen}
        aria-controls="timeline-filters"
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? filterTexts.fewer : filterTexts.more}
      </Button>
      {isFiltered && (
        <Button variant="subtle" onClick={clear}>
          {filterTexts.clear}
        </Button>
      )}
    </Group>
  );
}

function Boxes({ search, onChange }: FiltersProps) {
  const { data: collections = [] } = useQuery(collectionsQuery());
  const users = useUserNames();
  const isHere = useHere();
  // Collects the input of all fields, because the user may move to another field during the pause.
  const typed = useRef<Partial<TimelineSearch>>({});
  const tell = useDebouncedCallback(() => {
    if (isHere()) onChange(typed.current);
    typed.current = {};
  }, TYPING);
  const soon = (changed: Partial<TimelineSearch>) => {
    typed.current = { ...typed.current, ...changed };
    tell();
  };
  return (
    <>
      <TextInput
        label={filterTexts.text}
        placeholder={filterTexts.any}
        type="search"
        maxLength={200}
        leftSection={<Glyph path={searchIcon} size={16} />}
        defaultValue={search.q ?? ''}
        onChange={(event) => soon({ q: event.currentTarget.value || undefined })}
      />
      <TextInput
        label={filterTexts.from}
        type="date"
        defaultValue={search.since ?? ''}
        onChange={(event) => onChange({ since: event.currentTarget.value || undefined })}
      />
      <TextInput
        label={filterTexts.to}
        type="date"
        defaultValue={search.until ?? ''}
        onChange={(event) => onChange({ until: event.currentTarget.value || undefined })}
      />
      <Autocomplete
        label={filterTexts.collection}
        placeholder={filterTexts.any}
        limit={20}
        data={collections.map(({ collection }) => collection)}
        defaultValue={search.collection ?? ''}
        onChange={(value) => soon({ collection: value === '' ? undefined : value })}
      />
      <TextInput
        label={filterTexts.field}
        placeholder={filterTexts.any}
        defaultValue={search.field ?? ''}
        onChange={(event) => soon({ field: event.currentTarget.value || undefined })}
      />
      <NativeSelect
        label={filterTexts.type}
        data={[{ value: '', label: filterTexts.any }, ...typesWith(search.type)]}
        value={search.type ?? ''}
        onChange={(event) => onChange({ type: event.currentTarget.value || undefined })}
      />
      <Autocomplete
        label={filterTexts.user}
        placeholder={filterTexts.any}
        limit={20}
        data={users}
        defaultValue={search.actor ?? ''}
        onChange={(value) => soon({ actor: value === '' ? undefined : value })}
      />
    </>
  );
}

/** Returns the names of the first users. Only admins may list users; others type a name. */
function useUserNames(): string[] {
  const { data } = useInfiniteQuery({ ...usersQuery(), enabled: useMay('administer') });
  const names = (data?.pages ?? []).flatMap((page) => page.data).map(({ name }) => name);
  return [...new Set(names)].sort();
}

const typesWith = (type: string | undefined): { value: string; label: string }[] =>
  [...new Set([...TYPES, ...(type === undefined ? [] : [type])])].map((each) => ({
    value: each,
    label: filterTexts.typeName(each),
  }));
