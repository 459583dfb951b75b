import { useLocation } from '@tanstack/react-router';
import { LinkTabs } from '../../shared/link-tabs.js';

/** On a guide, its tab links to that guide. */
export function ReferenceTabs() {
  const pathname = useLocation({ select: (location) => location.pathname });
  // Each guide has its own address, so the tab links to the open one.
  const guides = pathname.startsWith('/docs') ? pathname : '/docs';
  const tabs = [
    { to: '/api', label: 'Reference' },
    { to: guides, label: 'Guides' },
  ];
  return <LinkTabs tabs={tabs} label="API pages" />;
}
