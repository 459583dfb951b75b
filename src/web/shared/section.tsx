/** A part of a page, under its heading. */
import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** @param props.title a heading of the second level */
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
