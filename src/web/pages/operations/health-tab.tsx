import { Stack, Group, Text, Alert, Code, Progress } from '@mantine/core';
import { useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useTitle } from '../../shared/page.js';
import { healthQuery, projectionsQuery, rebuild } from '../../service/operations-queries.js';
import { QueryResult, ProblemAlert } from '../../shared/problem-alert.js';
import { messages } from './messages.js';
import { Part, State } from './page.js';
import { SCHEMA } from '../../service/queries.js';
import { useRole } from '../../service/session.js';
import type { Projection } from '../../service/types.js';
import { ConfirmButton } from '../../shared/buttons.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';

/**
 * Shows the health of the service. An unhealthy service also responds, so an error is shown only if there was never a
 * response.
 */
export function HealthPart() {
  const health = useQuery(healthQuery());
  return (
    <Part title={messages.health.title} about={messages.health.about}>
      <QueryResult query={health} label={messages.health.loading}>
        {({ checks }) => (
          <Group gap="xl">
            {Object.entries(checks).map(([name, { ok, message }]) => (
              <div key={name}>
                <State ok={ok}>{messages.health.state(name, ok)}</State>
                {message !== undefined && <Text size="sm">{message}</Text>}
              </div>
            ))}
          </Group>
        )}
      </QueryResult>
    </Part>
  );
}

const { projections: texts } = messages;

/**
 * Shows the projections. They are refetched every few seconds, and every second during a rebuild. Only admins may
 * rebuild.
 */
export function ProjectionsPart() {
  const projections = useQuery(projectionsQuery());
  return (
    <Part title={texts.title} about={texts.about}>
      <QueryResult query={projections} label={texts.loading}>
        {(loaded) => (
          <ul className={classes.lines}>
            {loaded.map((projection) => (
              <Line key={projection.name} projection={projection} />
            ))}
          </ul>
        )}
      </QueryResult>
    </Part>
  );
}

function Line({ projection }: { projection: Projection }) {
  const { name, position, lag, status, last_error: failure, rebuilding } = projection;
  const isAdmin = useRole() === 'admin';
  const client = useQueryClient();
  const again = useMutation({
    mutationFn: () => rebuild(name),
    // The refetch shows that the rebuild has begun. After a reload, it is shown in the same way.
    onMutate: () => void client.invalidateQueries({ queryKey: projectionsQuery().queryKey }),
    onSettled: () => client.invalidateQueries({ queryKey: [SCHEMA] }),
  });
  const isBusy = again.isPending || rebuilding !== null;
  return (
    <li className={classes.line}>
      <div className={classes.words}>
        <State ok={status === 'running'}>{name}</State>
        <Text size="sm" c="dimmed">
          {lag === 0 ? texts.upToDate(position) : texts.behind(lag, position)}
        </Text>
        {rebuilding !== null && <Rebuilding name={name} rebuilding={rebuilding} />}
        {again.isSuccess && !isBusy && <Text size="sm">{texts.rebuilt}</Text>}
        {again.error !== null && <ProblemAlert error={again.error} />}
        {failure !== null && (
          <Alert color="red" mt="xs" title={texts.stopped(failure.position)}>
            <Text size="sm">{failure.message}</Text>
            <Text size="sm" mt={4}>
              {failure.next}
            </Text>
            {failure.sqlstate !== null && <Code>{failure.sqlstate}</Code>}
          </Alert>
        )}
      </div>
      {isAdmin && (
        <ConfirmButton
          size="xs"
          label={texts.rebuild}
          sure={texts.confirmRebuild}
          about={name}
          loading={isBusy}
          onConfirm={() => again.mutate()}
        />
      )}
    </li>
  );
}

/** Shows a running rebuild. The state comes from the service, so all users see it, even after a reload. */
function Rebuilding({
  name,
  rebuilding: { since, done },
}: {
  name: string;
  rebuilding: { since: string; done: number | null };
}) {
  return (
    <>
      <Progress
        mt={6}
        value={done === null ? 100 : done * 100}
        animated={done === null}
        aria-label={texts.rebuilding(name)}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {texts.rebuildingSince(<Time at={since} />, done === null ? null : Math.floor(done * 100))}
      </Text>
    </>
  );
}

/** The tab that the operations page shows by default. */
export function HealthTab() {
  useTitle(messages.title);
  return (
    <Stack gap="xl">
      <HealthPart />
      <ProjectionsPart />
    </Stack>
  );
}
