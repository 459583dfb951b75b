import { Badge, Group, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { changesQuery, openRequestsQuery, isInWork } from '../../service/change-queries.js';
import { itemsIn } from '../../service/request.js';
import type { ChangeSummary } from '../../service/types.js';
import { QueryResult, LoadMoreButton } from '../../shared/problem-alert.js';
import { abbreviate } from '../../shared/text.js';
import { STATES, Progress, Withdraw } from '../../shared/change-request/progress.js';
import { useTitle } from '../../shared/page.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';
import { changeQuery } from '../../service/review-queries.js';
import { actorName } from '../../../schema/model/events.js';
import { messages } from './messages.js';

const { changes: texts } = messages;

/**
 * Shows a change request. It is refetched every second while it makes progress. The button to withdraw is hidden if the
 * user may not withdraw.
 */
export function ChangeDetails({ id }: { id: string }) {
  return (
    <QueryResult query={useQuery(changeQuery(id))} label={texts.loadingOne}>
      {(request) => (
        <>
          <Progress request={request} />
          <Group justify="flex-end" mt="md">
            <Withdraw request={request} />
          </Group>
        </>
      )}
    </QueryResult>
  );
}

/**
 * Lists change requests. Open requests are expanded, and others link to the review. If there never was one, the tab
 * explains how to open one.
 */
export function ChangesTab() {
  useTitle(messages.titleOf(messages.tabs.changes));
  const inWork = useQuery(openRequestsQuery());
  const changes = useInfiniteQuery(changesQuery());
  return (
    <QueryResult query={inWork} label={texts.loading}>
      {(first) => (
        <QueryResult query={changes} label={texts.loading}>
          {({ pages }) => (
            <Lines
              inWork={first}
              newest={itemsIn(pages)}
              more={<LoadMoreButton of={changes}>{texts.older}</LoadMoreButton>}
            />
          )}
        </QueryResult>
      )}
    </QueryResult>
  );
}

interface LinesProps {
  inWork: readonly ChangeSummary[];
  newest: readonly ChangeSummary[];
  more: ReactNode;
}

/** Shows the requests. Open requests come first, however old they are. */
function Lines({ inWork, newest, more }: LinesProps) {
  const moving = new Set(inWork.map(({ id }) => id));
  const all = [...inWork, ...newest.filter(({ id }) => !moving.has(id))];
  if (all.length === 0) return <Empty />;
  return (
    <>
      <ul className={classes.cards}>
        {all.map((each) => (
          <Line key={each.id} change={each} isOpen={isInWork(each)} />
        ))}
      </ul>
      {more}
    </>
  );
}

function Empty() {
  return (
    <div className={classes.empty}>
      <Text fw={600}>{texts.none}</Text>
      <Text size="sm" mt={4}>
        {texts.about(<code>{'?online'}</code>)}
      </Text>
    </div>
  );
}

function Line({ change, isOpen }: { change: ChangeSummary; isOpen: boolean }) {
  const { id, state, title, operation, collections, author, reason, opened_at: since, result } = change;
  return (
    <li className={classes.card}>
      <div className={classes.head}>
        <div className={classes.words}>
          <Group gap="xs">
            <Badge variant="light" color={STATES[state].color} tt="none" className={classes.badge}>
              {STATES[state].label}
            </Badge>
            <Text fw={600}>{abbreviate(title ?? collections.join(', '), 120) || operation}</Text>
          </Group>
          <Text size="sm" c="dimmed" mt={4}>
            {texts.openedBy(operation, actorName(author), <Time at={since} />)}
            {reason !== null && `: ${abbreviate(reason, 300)}`}
          </Text>
        </div>
        <Group gap="sm">
          {result !== null && (
            <Link to="/timeline" search={{ batch: result.batch }}>
              {texts.showApplied}
            </Link>
          )}
          {!isOpen && (
            <Link to="/review" search={{ change: id }} aria-label={texts.detailsOf(collections.join(', '))}>
              {texts.details}
            </Link>
          )}
        </Group>
      </div>
      {isOpen && <ChangeDetails id={id} />}
    </li>
  );
}
