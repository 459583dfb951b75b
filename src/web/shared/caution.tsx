/** A warning with a heading. The library's own heading has too little contrast. */
import { Alert, Text } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  children: ReactNode;
  /** True if the user's last action caused it. */
  isNews?: boolean;
}

/** Announced at once if it is news. */
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
