import { Stack } from '@mantine/core';
import { useTitle } from '../../shared/page-title.js';
import { Checks } from './checks.js';
import { DoctorPart } from './doctor-part.js';
import { DriftPart } from './drift-part.js';

/** Requests nothing before a button is pressed. */
export function ChecksTab() {
  useTitle('Checks · Operations');
  return (
    <Stack gap="xl">
      <DoctorPart />
      <Checks />
      <DriftPart />
    </Stack>
  );
}
