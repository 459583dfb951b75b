import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { healthQuery } from '../../service/operations-queries.js';
import { Answered } from '../../shared/answered.js';
import { Part, State } from './part.js';

/** An unhealthy service also responds. An error is shown only if there was never a response. */
export function HealthPart() {
  const health = useQuery(healthQuery());
  return (
    <Part title="Health" about="The service reports its own health. This page updates every few seconds.">
      <Answered query={health} label="Loading health">
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
      </Answered>
    </Part>
  );
}
