import { actorName } from '../../../schema/model/events.js';
import type { Privilege } from '../../../schema/model/object-document.js';
import { privilegeLines } from '../../../schema/model/privileges.js';
import { Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import { type UseInfiniteQueryResult, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { batchDifferenceQuery, trashEventsQuery } from '../../service/history-queries.js';
import type { Batch, CollectionEvent } from '../../service/types.js';
import { abbreviate, lineDiff, visibleSql } from '../text.js';
import { LoadingIndicator, ProblemAlert } from '../problem-alert.js';
import { SteadyButton } from '../buttons.js';
import { type Change, changesOf, restoredKeys, titleOf, valueText } from './sentences.js';
import { totalText } from './total.js';
import classes from './change-list.module.css';
import historyClasses from './event-history.module.css';
import { Time } from '../time.js';
import { Name, named } from '../name.js';
import { locale } from '../language.js';
import { messages } from './messages.js';

const COLORS = { made: 'teal', restored: 'teal', changed: 'orange', removed: 'red' } as const;

/** Maximum number of members that are shown. If there are more, only their number is shown. */
const MOST_MEMBERS = 30;

/** Number of items per page. */
const MOST = 100;

interface Props {
  changes: readonly Change[];
  /** The part of the list that is not loaded. */
  more?: { events: number; isLoading: boolean; error: Error | null; load: () => void };
  /** Initial number of items. */
  first?: number;
  /** True to show the number of changes above the list. */
  hasTotal?: boolean;
}

/**
 * Lists changes. Without changes, shows that the schema is the same.
 * @param props.first the number of items at first, a hundred by default
 */
export function ChangeList({ hasTotal = false, ...props }: Props) {
  const { changes, more } = props;
  const hasMore = more !== undefined && more.events > 0;
  return (
    <>
      {hasTotal && (changes.length > 0 || hasMore) && (
        <Text size="sm" mb="xs">
          {hasMore ? messages.atLeast(totalText(changes)) : totalText(changes)}
        </Text>
      )}
      <Changes {...props} />
    </>
  );
}

function Changes({ changes, more, first = MOST }: Omit<Props, 'hasTotal'>) {
  const [most, setMost] = useState(first);
  if (changes.length === 0 && !more?.events) {
    return (
      <Text size="sm" c="dimmed">
        {messages.none}
      </Text>
    );
  }
  return (
    <Stack gap="xs" component="ul" className={classes.list}>
      {changes.slice(0, most).map((change, index) => (
        <li key={`${index} ${change.part} ${titleOf(change)}`} className={classes.change} data-mark={change.mark}>
          <Group gap="xs">
            <Badge size="sm" variant="light" color={COLORS[change.mark]} className={classes.badge}>
              {messages.marks[change.mark]}
            </Badge>
            {change.part === 'objects' ? (
              <Link to="/objects" search={{ kind: change.kind ?? '', id: change.collection }} className={classes.title}>
                <Name of={titleOf(change)} />
              </Link>
            ) : (
              <Link to="/collections/$name" params={{ name: change.collection }} className={classes.title}>
                <Name of={titleOf(change)} />
              </Link>
            )}
            {change.type !== null && <Code>{abbreviate(change.type, 80)}</Code>}
          </Group>
          {change.members.slice(0, MOST_MEMBERS).map((member) => (
            <MemberValues key={member.path} part={change.part} member={member} />
          ))}
          {change.members.length > MOST_MEMBERS && (
            <Text size="xs" c="dimmed" mt={4}>
              {messages.moreMembers((change.members.length - MOST_MEMBERS).toLocaleString(locale))}
            </Text>
          )}
        </li>
      ))}
      {changes.length > most && (
        <li>
          <Button variant="default" size="xs" onClick={() => setMost(most + MOST)}>
            {messages.showMore(
              String(Math.min(MOST, changes.length - most)),
              (changes.length - most).toLocaleString(locale),
            )}
          </Button>
        </li>
      )}
      {changes.length <= most && more !== undefined && more.events > 0 && (
        <li>
          <SteadyButton variant="default" size="xs" loading={more.isLoading} onClick={more.load}>
            {messages.moreEvents(more.events.toLocaleString(locale))}
          </SteadyButton>
          {more.error !== null && <ProblemAlert error={more.error} retry={more.load} />}
        </li>
      )}
    </Stack>
  );
}

/** Shows a value before and after. Definitions of objects are compared by line. */
function MemberValues({ part, member }: { part: Change['part']; member: Change['members'][number] }) {
  const { path, before, after } = member;
  const lines = part === 'objects' && path === 'definition' ? [before, after].map(definitionLines) : [];
  if (typeof lines[0] === 'string' && typeof lines[1] === 'string')
    return <DefinitionDiff before={lines[0]} after={lines[1]} />;
  return (
    <div className={classes.member}>
      <Code className={classes.path}>{path}</Code>
      <Value of={before} className={classes.before} label={messages.before} />
      <span aria-hidden="true">→</span>
      <Value of={after} className={classes.after} label={messages.after} />
    </div>
  );
}

function Value({ of, className, label }: { of: unknown; className: string | undefined; label: string }) {
  const text = valueText(of);
  return (
    <span className={className} title={named`${label}: ${abbreviate(text, 400)}`}>
      {abbreviate(text, 120)}
    </span>
  );
}

const LINE_WORDS = { '-': messages.before, '+': messages.after } as const;

/** Returns the lines of a definition. Null for values that are no definition. */
export function definitionLines(value: unknown): string | null {
  if (typeof value === 'string') return visibleSql(value);
  return Array.isArray(value) ? visibleSql(privilegeLines(value as Privilege[])) : null;
}

/** Each line is announced to screen readers as before or after. */
export function DefinitionDiff({ before, after }: { before: string; after: string }) {
  return (
    <div className={classes.lines} role="group" aria-label={messages.definitionByLine} tabIndex={0}>
      {lineDiff(before, after).map(({ sign, text }, index) =>
        sign === ' ' ? (
          <div key={index}>{`  ${text}`}</div>
        ) : (
          <div key={index} className={sign === '-' ? classes.lineBefore : classes.lineAfter}>
            <span className={classes.hidden}>{LINE_WORDS[sign]}: </span>
            {`${sign} ${text}`}
          </div>
        ),
      )}
    </div>
  );
}

/* The changes of a batch. */

/**
 * Returns the changes of a batch. `data` is undefined until the first page and the restored objects are loaded. `more`
 * is the rest with its own error, and `error` is that of the first page.
 */
export function useBatchChanges(batch: Batch) {
  const { types, last_position: last } = batch;
  const makes = types['collection.created'] !== undefined || types['field.created'] !== undefined;
  const difference = useInfiniteQuery(batchDifferenceQuery(batch));
  const events = useQuery({ ...trashEventsQuery(batch.batch), enabled: makes });
  const pages = difference.data?.pages;
  const isWhole = !makes || events.data !== undefined;
  const data = useMemo(
    () =>
      pages && isWhole ? pages.flatMap(({ diff }) => changesOf(diff, restoredKeys(events.data ?? []))) : undefined,
    [pages, events.data, isWhole],
  );
  const more = moreOf(difference, last);
  const { error, refetch } = difference.error === null && events.error !== null ? events : difference;
  return { data, more, error: error === more.error ? null : error, refetch };
}

type Difference = UseInfiniteQueryResult<{ pages: { to: number }[] }>;

/** @param last the last position of the batch */
const moreOf = ({ data, ...later }: Difference, last: number) => ({
  events: last - (data?.pages.at(-1)?.to ?? last),
  isLoading: later.isFetchingNextPage,
  error: later.isFetchNextPageError ? later.error : null,
  load: () => void later.fetchNextPage(),
});

/* The history of a collection or an object. */

/** Lists events by batch, newest first, each with its changes, its user and its reason. */
export function EventHistory({ query }: { query: UseQueryResult<CollectionEvent[]> }) {
  const { data: events, error, refetch } = query;
  if (events === undefined && error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (events === undefined) return <LoadingIndicator label={messages.history.loading} height="200px" />;
  if (events.length === 0) return <Text c="dimmed">{messages.history.none}</Text>;
  return (
    <ol className={historyClasses.events}>
      {batched(events).map((batch) => (
        <li key={batch[0].batch} className={historyClasses.event}>
          <Head event={batch[0]} />
          <Stack gap="xs">
            <ChangeList changes={batch.flatMap((event) => changesOf(event.diff, restoredKeys([event])))} />
          </Stack>
        </li>
      ))}
    </ol>
  );
}

/** Groups consecutive events of one batch. */
function batched(events: readonly CollectionEvent[]): [CollectionEvent, ...CollectionEvent[]][] {
  const batches: [CollectionEvent, ...CollectionEvent[]][] = [];
  for (const event of events) {
    const last = batches.at(-1);
    if (last?.[0].batch === event.batch) last.push(event);
    else batches.push([event]);
  }
  return batches;
}

function Head({ event: { batch, actor, occurred_at, reason } }: { event: CollectionEvent }) {
  return (
    <div className={historyClasses.head}>
      <Text component="span" fw={600} size="sm">
        {actorName(actor)}
      </Text>
      <Text component="span" size="sm" c="dimmed">
        <Time at={occurred_at} />
      </Text>
      {reason !== null && <Text size="sm">{abbreviate(reason, 300)}</Text>}
      <Link to="/timeline" search={{ batch }} className={historyClasses.all}>
        {messages.history.showWhole}
      </Link>
    </div>
  );
}
