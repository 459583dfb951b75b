/** A section of the page with a description and an action. */
import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import classes from './page.module.css';

interface Props {
  title: string;
  about: string;
  action?: ReactNode;
  children: ReactNode;
}

/** @param props.action an element next to the heading */
export function Part({ title, about, action, children }: Props) {
  const id = useId();
  return (
    <section className={classes.part} aria-labelledby={id}>
      <Group justify="space-between" align="flex-start" mb="sm">
        <div className={classes.words}>
          <Title order={2} size="h5" id={id}>
            {title}
          </Title>
          <Text size="sm" c="dimmed">
            {about}
          </Text>
        </div>
        {action}
      </Group>
      {children}
    </section>
  );
}

/** Shows a state as a word in green or red. */
export function State({ ok, children }: { ok: boolean; children: ReactNode }) {
  return (
    <span className={classes.state} data-ok={ok}>
      {children}
    </span>
  );
}
