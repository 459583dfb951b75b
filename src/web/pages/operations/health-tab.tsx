import { Stack } from '@mantine/core';
import { useTitle } from '../../shared/page-title.js';
import { HealthPart } from './health-part.js';
import { ProjectionsPart } from './projections-part.js';

/** The default part of operations. */
export function HealthTab() {
  useTitle('Operations');
  return (
    <Stack gap="xl">
      <HealthPart />
      <ProjectionsPart />
    </Stack>
  );
}
