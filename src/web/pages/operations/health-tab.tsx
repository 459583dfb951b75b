/** How the service and its projections are now. */
import { Stack } from '@mantine/core';
import { useTitle } from '../../shared/page-title.js';
import { HealthPart } from './health-part.js';
import { ProjectionsPart } from './projections-part.js';

/** The first part of operations: the address without a part leads here. */
export function HealthTab() {
  useTitle('Operations');
  return (
    <Stack gap="xl">
      <HealthPart />
      <ProjectionsPart />
    </Stack>
  );
}
