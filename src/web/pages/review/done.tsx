/** The applied change and a way to revert it. */
import doneIcon from 'icon:check_circle';
import { Alert, Button, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { batchQuery } from '../../service/history-queries.js';
import type { Batch } from '../../service/types.js';
import { Answered } from '../../shared/answered.js';
import { ChangeList } from '../../shared/changes/change-list.js';
import { useBatchChanges } from '../../shared/changes/use-batch-changes.js';
import { DATA_LOST, useLastApplied } from '../../shared/applied.js';
import { Glyph } from '../../shared/glyph.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { brief } from '../../shared/brief.js';
import classes from './review.module.css';

/**
 * Shows a message for an unknown batch. Undo opens a review of the revert without changing anything.
 * @param props.batch its id
 */
export function Done({ batch: id }: { batch: string }) {
  useTitle('Applied · Review');
  const batch = useQuery(batchQuery(id));
  return (
    <Page>
      <Answered query={batch} label="Loading the applied change">
        {(found) => (found === null ? <Text>The event log has no such change.</Text> : <What batch={found} />)}
      </Answered>
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
      <Text mt="xs">{brief(summary, 300)}</Text>
      <Text c="dimmed" size="sm" mt={4}>
        {events === 1 ? `Event ${last}` : `${events} events, ${first} to ${last}`}
        {reason !== null && `: ${brief(reason, 300)}`}
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
      <Answered query={changes} label="Loading the changes">
        {(found) => <ChangeList changes={found} more={changes.more} />}
      </Answered>
    </>
  );
}
