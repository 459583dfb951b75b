/* The review of the changes that an environment has and this service lacks. */
import { Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Resolution } from '../../../../schema/merge/model.js';
import { environmentsQuery } from '../../../service/operations-queries.js';
import { mergeEnvironment } from '../../../service/review-queries.js';
import { Decide, conflictsIn } from '../../../shared/conflicts/decide.js';
import { Page, useTitle } from '../../../shared/page.js';
import { Frame } from '../parts/notes.js';
import { renewalOf } from '../use-review.js';
import { Workspace } from '../workspace.js';
import { STILL } from './base-select.js';

export function EnvironmentSource({ id }: { id: string }) {
  const { data: environments = [] } = useQuery(environmentsQuery());
  const environment = environments.find((each) => each.id === id);
  const title = environment === undefined ? 'Changes of an environment' : `Changes from ${environment.name}`;
  useTitle(`${title} · Review`);
  const [resolve, setResolve] = useState<readonly Resolution[]>([]);
  const query = useQuery({
    ...STILL,
    queryKey: ['review', 'environment', id, resolve],
    queryFn: ({ signal }) => mergeEnvironment(id, resolve, signal),
  });
  const conflicts = conflictsIn(query.error);
  if (conflicts !== null)
    return (
      <Page>
        <Stack gap="lg">
          <Title order={1} size="h3">
            <bdi>{title}</bdi>
          </Title>
          <Decide
            // Earlier choices do not apply to these conflicts.
            key={conflicts.map(({ message }) => message).join('\n')}
            conflicts={conflicts}
            before={resolve}
            mine="environment"
            isBusy={query.isFetching}
            onDecided={setResolve}
          />
        </Stack>
      </Page>
    );
  return (
    <Frame title={title} query={query} label="Comparing with the environment">
      {(reviewed) => (
        <Workspace
          source={{
            key: `environment ${id}`,
            title,
            about: (
              <Text size="sm">
                The changes of the environment since the last schema that both had in common. Changes of this service
                are kept.
              </Text>
            ),
            reviewed,
            isWhole: false,
            renewal: renewalOf(query),
            onApplied: () => undefined,
          }}
        />
      )}
    </Frame>
  );
}
