import { Stack, Group, Text, Alert, Code, Progress } from '@mantine/core';
import { useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useTitle } from '../../shared/page.js';
import { healthQuery, projectionsQuery, rebuild } from '../../service/operations-queries.js';
import { QueryResult, ProblemAlert } from '../../shared/problem-alert.js';
import { Part, State } from './part.js';
import { SCHEMA } from '../../service/queries.js';
import { useRole } from '../../service/session.js';
import type { Projection } from '../../service/types.js';
import { ConfirmButton } from '../../shared/buttons.js';
import { Time } from '../../shared/time.js';
import { named } from '../../shared/name.js';
import classes from './page.module.css';

/**
 * Shows the health of the service. An unhealthy service also responds, so an error is shown only if there was never a
 * response.
 */
export function HealthPart() {
  const health = useQuery(healthQuery());
  return (
    <Part title="Health" about="The service reports its own health. This page updates every few seconds.">
      <QueryResult query={health} label="Loading health">
        {({ checks }) => (
          <Group gap="xl">
            {Object.entries(checks).map(([name, { ok, message }]) => (
              <div key={name}>
                <State ok={ok}>
                  {name}: {ok ? 'healthy' : 'unhealthy'}
                </State>
                {message !== undefined && <Text size="sm">{message}</Text>}
              </div>
            ))}
          </Group>
        )}
      </QueryResult>
    </Part>
  );
}

/**
 * Shows the projections. They are refetched every few seconds, and every second during a rebuild. Only admins may
 * rebuild.
 */
export function ProjectionsPart() {
  const projections = useQuery(projectionsQuery());
  return (
    <Part
      title="Projections"
      about="The service derives tables, metadata rows and indexes from the event log. You can rebuild each of them."
    >
      <QueryResult query={projections} label="Loading the projections">
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
          {lag === 0 ? `up to date, event ${position}` : `${lag} events behind, at event ${position}`}
        </Text>
        {rebuilding !== null && <Rebuilding name={name} rebuilding={rebuilding} />}
        {again.isSuccess && !isBusy && <Text size="sm">Rebuilt from the event log.</Text>}
        {again.error !== null && <ProblemAlert error={again.error} />}
        {failure !== null && (
          <Alert color="red" mt="xs" title={named`The projection stopped before event ${failure.position}`}>
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
          label="Rebuild"
          sure="Yes, rebuild"
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
        aria-label={named`Rebuilding ${name}`}
      />
      <Text size="xs" c="dimmed" mt={4}>
        Rebuilding since <Time at={since} />
        {done !== null && `, ${Math.floor(done * 100)} %`}
      </Text>
    </>
  );
}

/** The tab that the operations page shows by default. */
export function HealthTab() {
  useTitle('Operations');
  return (
    <Stack gap="xl">
      <HealthPart />
      <ProjectionsPart />
    </Stack>
  );
}
