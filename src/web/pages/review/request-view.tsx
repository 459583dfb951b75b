/** The page of a change request. It shows the same parts as the review of a draft, and the actions of reviewers below. */
import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { actorName } from '../../../schema/model/events.js';
import { changeQuery } from '../../service/review-queries.js';
import { useMay } from '../../service/session.js';
import type { ChangeRequest } from '../../service/types.js';
import { Revert } from '../../shared/change-request/later.js';
import { Naming } from '../../shared/change-request/naming.js';
import { Progress, STATES, Withdraw } from '../../shared/change-request/progress.js';
import { Proposal } from '../../shared/change-request/proposal.js';
import { Page, useTitle } from '../../shared/page.js';
import { QueryResult } from '../../shared/problem-alert.js';
import { abbreviate } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import { shownChangeOf } from './model/requested-diff.js';
import { Counts } from './parts/changes-pane.js';
import { RequestedChange } from './parts/requested-change.js';
import classes from './review.module.css';

/**
 * Shows a change request, and refetches it while it is open. If the service does not respond, the last progress stays
 * with a message.
 */
export function RequestView({ id }: { id: string }) {
  useTitle('Change request · Review');
  const query = useQuery(changeQuery(id));
  return (
    <Page>
      <QueryResult query={query} label="Loading the change request">
        {(request) => <Request request={request} isLost={query.error !== null} />}
      </QueryResult>
    </Page>
  );
}

function Request({ request, isLost }: { request: ChangeRequest; isLost: boolean }) {
  const { state, title, author, reason, opened_at: at, collections, result } = request;
  const { color, words } = STATES[state];
  const mayReadHistory = useMay('readHistory');
  const { document, online } = request;
  const change = useMemo(() => shownChangeOf({ document, online, reason }), [document, online, reason]);
  return (
    <Stack gap="md">
      <div>
        <Group gap="sm">
          <Title order={1} size="h3">
            {title === null ? `Change of ${abbreviate(collections.join(', '), 120)}` : abbreviate(title, 200)}
          </Title>
          <Badge color={color} variant="light" className={classes.state} role="status">
            {state}
          </Badge>
          {change !== null && <Counts items={change.items} />}
        </Group>
        <Text mt={4}>This request {words}.</Text>
        <Text size="sm" c="dimmed">
          {actorName(author)}, <Time at={at} />
          {reason !== null && `: ${abbreviate(reason, 300)}`}
        </Text>
        {isLost && <Text size="sm">The service does not respond. This is the last known state.</Text>}
      </div>
      <Naming request={request} />
      <Progress request={request} />
      <RequestedChange request={request} change={change} />
      <Proposal request={request} />
      <Group gap="sm">
        {result !== null && mayReadHistory && (
          <Button renderRoot={(props) => <Link {...props} to="/review" search={{ done: result.batch }} />}>
            Show applied changes
          </Button>
        )}
        <Revert request={request} />
        <Withdraw request={request} />
      </Group>
    </Stack>
  );
}
