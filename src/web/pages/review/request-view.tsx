import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { changeQuery } from '../../service/review-queries.js';
import type { ChangeRequest } from '../../service/types.js';
import { useMay } from '../../service/use-session.js';
import { Answered } from '../../shared/answered.js';
import { brief } from '../../shared/brief.js';
import { Progress, Withdraw } from '../../shared/change-request/progress.js';
import { Revert } from '../../shared/change-request/later.js';
import { Naming } from '../../shared/change-request/naming.js';
import { Proposal } from '../../shared/change-request/proposal.js';
import { STATES } from '../../shared/change-request/states.js';
import { ChangeList } from '../../shared/changes/change-list.js';
import { changesOf } from '../../shared/changes/sentences.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { Section } from '../../shared/section.js';
import { Time } from '../../shared/time.js';
import { askedFor } from './model/asked-for.js';
import { PlannedChange } from './parts/planned-change.js';
import classes from './review.module.css';

/** Changes shown before the actions. */
const AT_FIRST = 20;

/** Refetches while it is open. Without a response it keeps the last progress and reports that. */
export function RequestView({ id }: { id: string }) {
  useTitle('Change request · Review');
  const query = useQuery(changeQuery(id));
  return (
    <Page>
      <Answered query={query} label="Loading the change request">
        {(request) => <Request request={request} isLost={query.error !== null} />}
      </Answered>
    </Page>
  );
}

function Request({ request, isLost }: { request: ChangeRequest; isLost: boolean }) {
  const { state, title, author, reason, opened_at: at, collections, result, planned } = request;
  const { color, words } = STATES[state];
  const mayReadHistory = useMay('readHistory');
  const diff = askedFor(request.document.content);
  return (
    <Stack gap="md">
      <div>
        <Group gap="sm">
          <Title order={1} size="h3">
            {title === null ? `Change of ${brief(collections.join(', '), 120)}` : brief(title, 200)}
          </Title>
          <Badge color={color} variant="light" className={classes.state} role="status">
            {state}
          </Badge>
        </Group>
        <Text mt={4}>This request {words}.</Text>
        <Text size="sm" c="dimmed">
          {author.name}, <Time at={at} />
          {reason !== null && `: ${brief(reason, 300)}`}
        </Text>
        {isLost && <Text size="sm">The service does not respond. This is the last known state.</Text>}
      </div>
      <Naming request={request} />
      <Progress request={request} />
      {diff !== null && (
        <Section title="Changes">
          <ChangeList changes={changesOf(diff)} first={AT_FIRST} />
        </Section>
      )}
      {planned != null && <PlannedChange request={request} planned={planned} />}
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
