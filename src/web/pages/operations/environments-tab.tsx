/* Lists environments, which are other instances of the service, and compares their schemas with this one. */
import addIcon from 'icon:add';
import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { environmentsQuery, testEnvironment } from '../../service/operations-queries.js';
import type { Environment, EnvironmentComparison } from '../../service/types.js';
import { SteadyButton } from '../../shared/buttons.js';
import { Glyph } from '../../shared/glyph.js';
import { named } from '../../shared/name.js';
import { useTitle } from '../../shared/page.js';
import { ProblemAlert, QueryResult } from '../../shared/problem-alert.js';
import { counted } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import { EnvironmentDialog } from './environment-dialog.js';
import classes from './page.module.css';

/** Lists environments, and refetches their comparisons every few seconds. */
export function EnvironmentsTab() {
  useTitle('Environments · Operations');
  const environments = useQuery(environmentsQuery());
  const [open, setOpen] = useState<Environment | 'new' | null>(null);
  return (
    <>
      <Group justify="space-between" align="flex-start" mb="md">
        <Text size="sm" c="dimmed" className={classes.words}>
          An environment is another instance of the service. Compare its schema with this one, and bring its changes
          here.
        </Text>
        <Button leftSection={<Glyph path={addIcon} />} onClick={() => setOpen('new')}>
          Connect environment
        </Button>
      </Group>
      <QueryResult query={environments} label="Loading the environments">
        {(list) =>
          list.length === 0 ? (
            <Empty />
          ) : (
            <ul className={classes.cards} aria-label="Environments">
              {list.map((environment) => (
                <EnvironmentCard key={environment.id} environment={environment} onEdit={() => setOpen(environment)} />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {open !== null && <EnvironmentDialog environment={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </>
  );
}

const Empty = () => (
  <div className={classes.empty}>
    <Text fw={600}>No environments</Text>
    <Text size="sm" mt={4}>
      Connect another instance, for example staging, to promote its changes to this one.
    </Text>
  </div>
);

function EnvironmentCard({ environment, onEdit }: { environment: Environment; onEdit: () => void }) {
  const { id, name, url, comparison } = environment;
  const client = useQueryClient();
  const test = useMutation({
    mutationFn: () => testEnvironment(id),
    onSettled: () => client.invalidateQueries(environmentsQuery()),
  });
  return (
    <li className={classes.card}>
      <div className={classes.head}>
        <div className={classes.words}>
          <Text fw={600}>{name}</Text>
          <Text size="sm" className={classes.address}>
            <a href={`${url}/app`} target="_blank" rel="noreferrer">
              {url}
            </a>
          </Text>
          <div role="status">
            <Result comparison={comparison} />
          </div>
          <CommonSchema environment={environment} />
        </div>
        <Group gap="xs">
          {comparison !== null && hasChanges(comparison) && (
            <Button
              size="xs"
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/review"
                  search={{ environment: id }}
                  aria-label={named`Bring changes here from ${name}`}
                />
              )}
            >
              Bring changes here
            </Button>
          )}
          <SteadyButton
            variant="default"
            size="xs"
            loading={test.isPending}
            aria-label={named`Test connection to ${name}`}
            onClick={() => test.mutate()}
          >
            Test connection
          </SteadyButton>
          <Button variant="default" size="xs" aria-label={named`Edit ${name}`} onClick={onEdit}>
            Edit
          </Button>
        </Group>
      </div>
      {test.error !== null && <ProblemAlert error={test.error} />}
    </li>
  );
}

const hasChanges = ({ behind, conflicts, error }: EnvironmentComparison): boolean =>
  error === null ? behind !== 0 || conflicts > 0 : error.code === 'not_comparable';

function Result({ comparison }: { comparison: EnvironmentComparison | null }) {
  if (comparison === null) return <Text size="sm">Comparing …</Text>;
  const { error, checked_at: at } = comparison;
  if (error !== null)
    return (
      <Text size="sm" c="var(--mantine-color-error)">
        {error.message}
      </Text>
    );
  return (
    <Text size="sm">
      <b>{countsText(comparison)}</b>{' '}
      <Text component="span" size="sm" c="dimmed">
        (<Time at={at} />)
      </Text>
    </Text>
  );
}

/** `3 changes ahead, 1 behind` */
function countsText({ ahead, behind, conflicts }: EnvironmentComparison): string {
  const conflicting = counted(conflicts, 'conflict');
  if (ahead === null || behind === null) return conflicting;
  if (ahead + behind + conflicts === 0) return 'Both schemas are equal';
  const counts = `${counted(ahead, 'change')} ahead, ${behind.toLocaleString()} behind`;
  return conflicts === 0 ? counts : `${counts}, ${conflicting}`;
}

function CommonSchema({ environment: { base, name } }: { environment: Environment }) {
  return (
    <Text size="sm" c="dimmed">
      {base === null
        ? 'The last common schema is not known. Until both are equal, or you enter it, everything counts as new.'
        : `Last common schema: event ${base.position.toLocaleString()} of ${base.log === 'own' ? 'this service' : name}.`}
    </Text>
  );
}
