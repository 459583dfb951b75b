/** Something is on its way. */
import { Center, Loader } from '@mantine/core';

export function Waiting({ label, height = '100%' }: { label: string; height?: string }) {
  return (
    <Center h={height} p="md">
      <Loader role="status" aria-label={label} />
    </Center>
  );
}
