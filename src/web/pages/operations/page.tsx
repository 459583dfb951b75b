/** Whether everything is as it should be, and what to do where it isn't. */
import { Stack, Title } from '@mantine/core';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { Checks } from './checks.js';
import { DriftPart } from './drift-part.js';
import { HealthPart } from './health-part.js';
import { ProjectionsPart } from './projections-part.js';

export function OperationsPage() {
  useTitle('Operations');
  return (
    <Page>
      <Title order={1} size="h3" mb="lg">
        Operations
      </Title>
      <Stack gap="xl">
        <HealthPart />
        <ProjectionsPart />
        <Checks />
        <DriftPart />
      </Stack>
    </Page>
  );
}
