import { Center, Loader } from '@mantine/core';

/**
 * @param props.label what is loading, for screen readers
 * @param props.height in CSS; that of its container by default
 */
export function Waiting({ label, height = '100%' }: { label: string; height?: string }) {
  return (
    <Center h={height} p="md">
      <Loader role="status" aria-label={label} />
    </Center>
  );
}
