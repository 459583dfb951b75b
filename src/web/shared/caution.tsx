/** What to mind, under a heading. The kit's own heading takes the colour, and is too pale to be read. */
import { Alert, Text } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  children: ReactNode;
  /** It has come by something that was done just now. */
  isNews?: boolean;
}

/** Read out at once where it is news, otherwise when one comes to it. */
export function Caution({ title, children, isNews = false }: Props) {
  return (
    <Alert color="orange" variant="light" role={isNews ? 'alert' : 'note'}>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      {children}
    </Alert>
  );
}
