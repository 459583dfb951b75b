/** The frame of the operations pages. */
import { Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { openRequestsQuery } from '../../service/change-queries.js';
import { countFaults, trashQuery, useScheduledFaults } from '../../service/operations-queries.js';
import { useRole } from '../../service/session.js';
import { LinkTabs, Page } from '../../shared/page.js';

/** Shows the tabs with the numbers of faults, open requests and trash entries. Adoption, webhooks and environments are only for admins. */
export function OperationsPage() {
  const isAdmin = useRole() === 'admin';
  const { data: inWork } = useQuery(openRequestsQuery());
  const { data: trash } = useQuery(trashQuery());
  const faults = countFaults(useScheduledFaults(true));
  const tabs = [
    { to: '/operations', label: 'Health' },
    { to: '/operations/checks', label: 'Checks', count: faults },
    { to: '/operations/changes', label: 'Change requests', count: inWork?.length },
    { to: '/operations/policy', label: 'Policy' },
    { to: '/operations/trash', label: 'Trash', count: trash?.meta?.total_count },
    ...(isAdmin
      ? [
          { to: '/operations/adopt', label: 'Adopt' },
          { to: '/operations/webhooks', label: 'Webhooks' },
          { to: '/operations/environments', label: 'Environments' },
        ]
      : []),
    { to: '/operations/trust', label: 'Trust rules' },
    { to: '/operations/metrics', label: 'Metrics' },
  ];
  return (
    <Page wide>
      <Title order={1} size="h3" mb="sm">
        Operations
      </Title>
      <LinkTabs tabs={tabs} label="Operations" />
      <Outlet />
    </Page>
  );
}
