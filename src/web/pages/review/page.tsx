import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import doneIcon from 'icon:check_circle';
import { Alert, Button, Group, Text, Title, Badge, Stack, TextInput } from '@mantine/core';
import { useQuery, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isEmpty } from '../../draft/model.js';
import { useDraft } from '../../draft/store.js';
import { useMay } from '../../service/session.js';
import type { ReviewSearch } from './search.js';
import { DraftSource } from './sources/draft-source.js';
import { EnvironmentSource, PastSource } from './sources/base-select.js';
import { FileSource } from './sources/file-source.js';
import { batchQuery } from '../../service/history-queries.js';
import type { Batch, ChangeSummary } from '../../service/types.js';
import { QueryResult, LoadMoreButton } from '../../shared/problem-alert.js';
import { ChangeList } from '../../shared/changes/change-list.js';
import { useBatchChanges } from '../../shared/changes/use-batch-changes.js';
import { DATA_LOST, useLastApplied } from '../../shared/applied.js';
import { Glyph } from '../../shared/glyph.js';
import { Page, useTitle, Section } from '../../shared/page.js';
import { abbreviate } from '../../shared/text.js';
import classes from './review.module.css';
import { STATES } from '../../shared/change-request/progress.js';
import { Time } from '../../shared/time.js';
import { changesQuery, requestsToApproveQuery } from '../../service/change-queries.js';
import { itemsIn } from '../../service/request.js';
import { RequestView } from './request-view.js';
import { UploadForm } from './sources/upload.js';
import { actorName } from '../../../schema/model/events.js';

/* The start page of reviews. The user can review a file, a past state or a change request. */

/**
 * Change requests come first, because the navigation counts those that wait. Users who may propose also see the inputs
 * for files.
 * @param props.isImport true if the user chose to import a file, which then comes first
 */
function Begin({ isImport }: { isImport: boolean }) {
  useTitle('Review');
  const mayPropose = useMay('propose');
  const importing = mayPropose && (
    <Section title="Import a snapshot">
      <UploadForm />
    </Section>
  );
  return (
    <Page>
      <Title order={1} size="h3">
        Review
      </Title>
      <Text c="dimmed" mb="lg">
        Review a change before you apply it: its statements, data loss and locks.
      </Text>
      <Stack gap="xl">
        {isImport && importing}
        <Inbox />
        {!isImport && importing}
        <Section title="Go back to a point in time">
          <GoBack />
        </Section>
        {mayPropose && (
          <Section title="Edit the schema">
            <Text size="sm">
              Open a <Link to="/">collection</Link> and edit it. Your edits are saved to a draft. The bar at the bottom
              of every page opens its review.
            </Text>
          </Section>
        )}
      </Stack>
    </Page>
  );
}

/** Lists the requests that wait for the user's approval, and then the others, newest first. */
function Inbox() {
  const { data: waiting = [] } = useQuery(requestsToApproveQuery());
  const requests = useInfiniteQuery(changesQuery());
  const ids = new Set(waiting.map(({ id }) => id));
  return (
    <>
      {waiting.length > 0 && (
        <Section title="Waiting for your approval">
          <Requests changes={waiting} />
        </Section>
      )}
      <QueryResult query={requests} label="Loading the change requests">
        {({ pages }) => {
          const others = itemsIn(pages).filter(({ id }) => !ids.has(id));
          if (others.length === 0 && waiting.length > 0 && !requests.hasNextPage) return null;
          return (
            <Section title={waiting.length > 0 ? 'Other change requests' : 'Change requests'}>
              {others.length === 0 && waiting.length === 0 && (
                <Text size="sm">No change requests. Propose a change in its review.</Text>
              )}
              <Requests changes={others} />
              <LoadMoreButton of={requests}>Show older requests</LoadMoreButton>
            </Section>
          );
        }}
      </QueryResult>
    </>
  );
}

function GoBack() {
  const navigate = useNavigate();
  const [time, setTime] = useState('');
  const moment = time === '' ? null : new Date(time);
  return (
    <Group gap="sm" align="flex-end">
      <TextInput
        label="Date and time"
        type="datetime-local"
        value={time}
        onChange={(event) => setTime(event.currentTarget.value)}
      />
      <Button
        variant="default"
        disabled={moment === null || Number.isNaN(moment.getTime())}
        onClick={() => moment && void navigate({ to: '/review', search: { to: moment.toISOString() } })}
      >
        Show changes
      </Button>
      <Text size="sm" c="dimmed">
        or choose a change in the <Link to="/timeline">timeline</Link>
      </Text>
    </Group>
  );
}

function Requests({ changes }: { changes: readonly ChangeSummary[] }) {
  return (
    <ul className={classes.requests}>
      {changes.map(({ id, state, title, collections, author, reason, opened_at: at }) => (
        <li key={id}>
          <Link to="/review" search={{ change: id }} className={classes.request}>
            <span className={classes.requestName}>
              <bdi>{abbreviate(title ?? collections.join(', '), 120)}</bdi>
              <Text component="span" size="xs" c="dimmed">
                {actorName(author)}, <Time at={at} />
                {reason !== null && `: ${abbreviate(reason, 160)}`}
              </Text>
            </span>
            <Badge color={STATES[state].color} variant="light" className={classes.state}>
              {state}
            </Badge>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/* The applied change and a way to revert it. */

/**
 * Shows an applied change, or a message for an unknown batch. Undo opens a review of the revert and changes nothing
 * itself.
 * @param props.batch the id of the batch
 */
function Done({ batch: id }: { batch: string }) {
  useTitle('Applied · Review');
  const batch = useQuery(batchQuery(id));
  return (
    <Page>
      <QueryResult query={batch} label="Loading the applied change">
        {(loaded) => (loaded === null ? <Text>The event log has no such change.</Text> : <What batch={loaded} />)}
      </QueryResult>
    </Page>
  );
}

function What({ batch }: { batch: Batch }) {
  const { first_position: first, last_position: last, summary, reason, events } = batch;
  const changes = useBatchChanges(batch);
  const applied = useLastApplied();
  const isDataLost = applied?.batch === batch.batch && applied.isDataLost;
  return (
    <>
      <Group gap="sm" wrap="nowrap">
        <span className={classes.check}>
          <Glyph path={doneIcon} size={30} />
        </span>
        <Title order={1} size="h3">
          Applied
        </Title>
      </Group>
      <Text mt="xs">{abbreviate(summary, 300)}</Text>
      <Text c="dimmed" size="sm" mt={4}>
        {events === 1 ? `Event ${last}` : `${events} events, ${first} to ${last}`}
        {reason !== null && `: ${abbreviate(reason, 300)}`}
      </Text>
      <Group gap="sm" my="lg">
        <Button component={Link} to="/">
          Open the schema
        </Button>
        <Button variant="default" renderRoot={(props) => <Link {...props} to="/review" search={{ to: first - 1 }} />}>
          Undo …
        </Button>
        <Button
          variant="default"
          renderRoot={(props) => <Link {...props} to="/timeline" search={{ batch: batch.batch }} />}
        >
          Show in the timeline
        </Button>
      </Group>
      {isDataLost ? (
        <Alert color="red" variant="light" role="alert" mb="lg">
          {DATA_LOST}
        </Alert>
      ) : (
        <Text size="sm" c="dimmed" mb="lg">
          Undo opens a review first. Deleted objects are restored with their data while the trash keeps it.
        </Text>
      )}
      <QueryResult query={changes} label="Loading the changes">
        {(changeList) => <ChangeList changes={changeList} more={changes.more} hasTotal />}
      </QueryResult>
    </>
  );
}

const route = getRouteApi('/review');

/**
 * Shows the review that the address selects: an applied batch, a request, a past state, an environment, a file or the
 * draft, and otherwise the start page. The start page also replaces an empty draft.
 */
export function ReviewPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayPropose = useMay('propose');
  const { draft } = useDraft();
  const { to, file, environment, change, done, draft: isDraft, bring } = search;
  const onChange = (changed: Partial<ReviewSearch>) =>
    void navigate({ search: (before: ReviewSearch) => ({ ...before, ...changed }), replace: true });
  if (done !== undefined) return <Done batch={done} />;
  if (change !== undefined) return <RequestView key={change} id={change} />;
  if (to !== undefined) return <PastSource key={to} to={String(to)} />;
  if (environment !== undefined) return <EnvironmentSource key={environment} id={environment} />;
  if (file !== undefined) return <FileSource key={file} search={{ ...search, file }} onChange={onChange} />;
  if (mayPropose && isDraft === true && !isEmpty(draft)) return <DraftSource draft={draft} />;
  return <Begin isImport={bring === true} />;
}
