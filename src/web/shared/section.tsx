import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** @param props.title a second-level heading */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {children}
    </section>
  );
}
