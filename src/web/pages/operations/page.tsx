/* The frame of the operations pages, and the sections of their tabs. */
import { Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import { openRequestsQuery } from '../../service/change-queries.js';
import { countFaults, trashQuery, useScheduledFaults } from '../../service/operations-queries.js';
import { useRole } from '../../service/session.js';
import { LinkTabs, Page } from '../../shared/page.js';
import { messages } from './messages.js';
import classes from './page.module.css';

/** Shows the tabs with the numbers of faults, open requests and trash entries. Adoption, webhooks and environments are only for admins. */
export function OperationsPage() {
  const { title, tabs } = messages;
  const isAdmin = useRole() === 'admin';
  const { data: inWork } = useQuery(openRequestsQuery());
  const { data: trash } = useQuery(trashQuery());
  const faults = countFaults(useScheduledFaults(true));
  const links = [
    { to: '/operations', label: tabs.health },
    { to: '/operations/checks', label: tabs.checks, count: faults },
    { to: '/operations/changes', label: tabs.changes, count: inWork?.length },
    { to: '/operations/policy', label: tabs.policy },
    { to: '/operations/trash', label: tabs.trash, count: trash?.meta?.total_count },
    ...(isAdmin
      ? [
          { to: '/operations/adopt', label: tabs.adopt },
          { to: '/operations/webhooks', label: tabs.webhooks },
          { to: '/operations/environments', label: tabs.environments },
        ]
      : []),
    { to: '/operations/trust', label: tabs.trust },
    { to: '/operations/metrics', label: tabs.metrics },
  ];
  return (
    <Page wide>
      <Title order={1} size="h3" mb="sm">
        {title}
      </Title>
      <LinkTabs tabs={links} label={title} />
      <Outlet />
    </Page>
  );
}

/* A section of a tab with a description and an action. */

interface PartProps {
  title: string;
  about: string;
  action?: ReactNode;
  children: ReactNode;
}

/** @param props.action an element next to the heading */
export function Part({ title, about, action, children }: PartProps) {
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
