import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import doneIcon from 'icon:check_circle';
import { Alert, Button, Group, Text, Title, Badge, Stack, TextInput } from '@mantine/core';
import { useQuery, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isEmpty } from '../../draft/model.js';
import { useDraft } from '../../draft/store.js';
import { useMay } from '../../service/session.js';
import type { ReviewSearch } from './search.js';
import { DraftSource, EnvironmentSource, PastSource } from './sources/base-select.js';
import { FileSource } from './sources/file-source.js';
import { batchQuery } from '../../service/history-queries.js';
import type { Batch, ChangeSummary } from '../../service/types.js';
import { QueryResult, LoadMoreButton } from '../../shared/problem-alert.js';
import { ChangeList, useBatchChanges } from '../../shared/changes/change-list.js';
import { DATA_LOST, useLastApplied } from '../../shared/last-applied.js';
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
import { messages } from './messages.js';

const { applied: appliedTexts, start: texts } = messages;

/* The start page of reviews. The user can review a file, a past state or a change request. */

/**
 * Change requests come first, because the navigation counts those that wait. Users who may propose also see the inputs
 * for files.
 * @param props.isImport true if the user chose to import a file, which then comes first
 */
function Begin({ isImport }: { isImport: boolean }) {
  useTitle(messages.title);
  const mayPropose = useMay('propose');
  const importing = mayPropose && (
    <Section title={texts.import}>
      <UploadForm />
    </Section>
  );
  return (
    <Page>
      <Title order={1} size="h3">
        {messages.title}
      </Title>
      <Text c="dimmed" mb="lg">
        {texts.about}
      </Text>
      <Stack gap="xl">
        {isImport && importing}
        <Inbox />
        {!isImport && importing}
        <Section title={texts.goBack}>
          <GoBack />
        </Section>
        {mayPropose && (
          <Section title={texts.edit}>
            <Text size="sm">
              {texts.aboutEditing((label) => (
                <Link to="/">{label}</Link>
              ))}
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
        <Section title={texts.waiting}>
          <Requests changes={waiting} />
        </Section>
      )}
      <QueryResult query={requests} label={texts.loading}>
        {({ pages }) => {
          const others = itemsIn(pages).filter(({ id }) => !ids.has(id));
          if (others.length === 0 && waiting.length > 0 && !requests.hasNextPage) return null;
          return (
            <Section title={waiting.length > 0 ? texts.otherRequests : texts.requests}>
              {others.length === 0 && waiting.length === 0 && <Text size="sm">{texts.noRequests}</Text>}
              <Requests changes={others} />
              <LoadMoreButton of={requests}>{texts.older}</LoadMoreButton>
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
        label={texts.dateAndTime}
        type="datetime-local"
        value={time}
        onChange={(event) => setTime(event.currentTarget.value)}
      />
      <Button
        variant="default"
        disabled={moment === null || Number.isNaN(moment.getTime())}
        onClick={() => moment && void navigate({ to: '/review', search: { to: moment.toISOString() } })}
      >
        {texts.showChanges}
      </Button>
      <Text size="sm" c="dimmed">
        {texts.orTimeline((label) => (
          <Link to="/timeline">{label}</Link>
        ))}
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
              {STATES[state].label}
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
  useTitle(messages.titleOf(appliedTexts.title));
  const batch = useQuery(batchQuery(id));
  return (
    <Page>
      <QueryResult query={batch} label={appliedTexts.loading}>
        {(loaded) => (loaded === null ? <Text>{appliedTexts.unknown}</Text> : <What batch={loaded} />)}
      </QueryResult>
    </Page>
  );
}

function What({ batch }: { batch: Batch }) {
  const { first_position: first, last_position: last, summary, reason, events, types } = batch;
  const changes = useBatchChanges(batch);
  const applied = useLastApplied();
  const isDataLost = applied?.batch === batch.batch && applied.isDataLost;
  const mayReadTrash = useMay('readOperations');
  const hasTrash = mayReadTrash && (types['collection.deleted'] !== undefined || types['field.deleted'] !== undefined);
  return (
    <>
      <Group gap="sm" wrap="nowrap">
        <span className={classes.check}>
          <Glyph path={doneIcon} size={30} />
        </span>
        <Title order={1} size="h3">
          {appliedTexts.title}
        </Title>
      </Group>
      <Text mt="xs">{abbreviate(summary, 300)}</Text>
      <Text c="dimmed" size="sm" mt={4}>
        {events === 1 ? appliedTexts.event(last) : appliedTexts.events(events, first, last)}
        {reason !== null && `: ${abbreviate(reason, 300)}`}
      </Text>
      <Group gap="sm" my="lg">
        <Button component={Link} to="/">
          {messages.openSchema}
        </Button>
        <Button variant="default" renderRoot={(props) => <Link {...props} to="/review" search={{ to: first - 1 }} />}>
          {appliedTexts.undo}
        </Button>
        <Button
          variant="default"
          renderRoot={(props) => <Link {...props} to="/timeline" search={{ batch: batch.batch }} />}
        >
          {appliedTexts.showInTimeline}
        </Button>
      </Group>
      {isDataLost ? (
        <Alert color="red" variant="light" role="alert" mb="lg">
          {DATA_LOST}
        </Alert>
      ) : (
        <Text size="sm" c="dimmed" mb="lg">
          {appliedTexts.aboutUndo} {hasTrash && <Link to="/operations/trash">{appliedTexts.openTrash}</Link>}
        </Text>
      )}
      <QueryResult query={changes} label={appliedTexts.loadingChanges}>
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
