import { useLocation } from '@tanstack/react-router';
import { LinkTabs } from '../../shared/page.js';

/** Shows the tabs. On the page of a guide, the tab of the guides links to that guide. */
export function ReferenceTabs() {
  const pathname = useLocation({ select: (location) => location.pathname });
  // Each guide has its own address, so the tab must link to the guide that is open.
  const guides = pathname.startsWith('/docs') ? pathname : '/docs';
  const tabs = [
    { to: '/api', label: 'Reference' },
    { to: guides, label: 'Guides' },
  ];
  return <LinkTabs tabs={tabs} label="API pages" />;
}
