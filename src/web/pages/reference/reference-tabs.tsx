/** What is said of the interface: its reference, and the guides. */
import { useLocation } from '@tanstack/react-router';
import { LinkTabs } from '../../shared/link-tabs.js';

/** For both pages. On a guide, its tab leads to that guide. */
export function ReferenceTabs() {
  const pathname = useLocation({ select: (location) => location.pathname });
  // Each guide has an address of its own: the tab leads to the one that is read.
  const guides = pathname.startsWith('/docs') ? pathname : '/docs';
  const tabs = [
    { to: '/api', label: 'Reference' },
    { to: guides, label: 'Guides' },
  ];
  return <LinkTabs tabs={tabs} label="Parts of the API page" />;
}
