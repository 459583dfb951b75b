/** The start page of reviews: a file, a past state, a change request. */
import { Badge, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { changesQuery } from '../../service/change-queries.js';
import { itemsIn } from '../../service/paged.js';
import { useMay } from '../../service/use-session.js';
import type { ChangeSummary } from '../../service/types.js';
import { Section } from '../../shared/section.js';
import { brief } from '../../shared/brief.js';
import { More } from '../../shared/more.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { Time } from '../../shared/time.js';
import { Bring } from './sources/upload.js';
import { STATES } from '../../shared/change-request/states.js';
import classes from './review.module.css';

/** For users who may propose also files and the draft. Change requests are listed below, newest first. */
export function Begin() {
  useTitle('Review');
  const mayPropose = useMay('propose');
  const requests = useInfiniteQuery(changesQuery());
  const changes = itemsIn(requests.data?.pages ?? []);
  return (
    <Page>
      <Title order={1} size="h3">
        Review
      </Title>
      <Text c="dimmed" mb="lg">
        Review a change before you apply it: its statements, data loss and locks.
      </Text>
      <Stack gap="xl">
        {mayPropose && (
          <Section title="Import a snapshot">
            <Bring />
          </Section>
        )}
        <Section title="Go back to a point in time">
          <GoBack />
        </Section>
        {mayPropose && (
          <Section title="Edit the schema">
            <Text size="sm">
              Open a <Link to="/">collection</Link> and edit it. Your edits are saved to a draft that you review here.
            </Text>
          </Section>
        )}
        {changes.length > 0 && (
          <Section title="Change requests">
            <Requests changes={changes} />
            <More of={requests}>Show older requests</More>
          </Section>
        )}
      </Stack>
    </Page>
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
              <bdi>{brief(title ?? collections.join(', '), 120)}</bdi>
              <Text component="span" size="xs" c="dimmed">
                {author.name}, <Time at={at} />
                {reason !== null && `: ${brief(reason, 160)}`}
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
