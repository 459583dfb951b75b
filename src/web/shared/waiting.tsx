/** Something is on its way. */
import { Center, Loader } from '@mantine/core';

/**
 * @param props.label what is on its way, for those who don't see the wheel
 * @param props.height of CSS: that of the place around it unless said
 */
export function Waiting({ label, height = '100%' }: { label: string; height?: string }) {
  return (
    <Center h={height} p="md">
      <Loader role="status" aria-label={label} />
    </Center>
  );
}
