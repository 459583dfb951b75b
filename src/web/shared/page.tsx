import { Title, Anchor, Stack, Text } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useSyncExternalStore, useRef } from 'react';
import { messages } from './messages.js';
import tabClasses from './link-tabs.module.css';
import classes from './page.module.css';

/** @param props.wide true for a page with wide tables */
export function Page({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return (
    <div className={classes.page} data-wide={wide || undefined}>
      {children}
    </div>
  );
}

/* The title of the page, set by each page. Rendered as text. */

let title = '';
const listeners = new Set<() => void>();

function setTitle(next: string): void {
  title = next;
  for (const listener of listeners) listener();
}

/** Returns the title. Empty before the first page has set it. */
export const usePageTitle = (): string =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => title,
  );

/** Sets the title. Every page must call it. */
export function useTitle(next: string): void {
  useEffect(() => setTitle(next), [next]);
}

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

/* Used for unknown addresses. */

/** Also shown for unknown guides. */
export function NotFound() {
  return (
    <Stack align="center" justify="center" mih="60vh" p="xl" gap="xs">
      <Title order={1} size="h3">
        {messages.page.notFound}
      </Title>
      <Text c="dimmed">{messages.page.mistyped}</Text>
      <Anchor component={Link} to="/">
        {messages.page.openSchema}
      </Anchor>
    </Stack>
  );
}

interface LinkTab {
  to: string;
  label: string;
  /** A counter; none hides it. */
  count?: number | undefined;
}

/** @param props.label for screen readers */
export function LinkTabs({ tabs, label }: { tabs: readonly LinkTab[]; label: string }) {
  const place = useRef<HTMLElement>(null);
  const pathname = useLocation({ select: (location) => location.pathname });
  const counts = tabs.map(({ count = 0 }) => count).join();
  // Scrolls the open tab into view, again after counters have changed its position.
  useEffect(() => {
    const [row, open] = [place.current, place.current?.querySelector<HTMLElement>('[aria-current]')];
    if (row && open) row.scrollLeft = open.offsetLeft - row.offsetLeft - (row.clientWidth - open.offsetWidth) / 2;
  }, [pathname, counts]);
  return (
    <nav ref={place} className={tabClasses.tabs} aria-label={label}>
      {tabs.map((tab) => (
        <Link
          key={tab.to}
          to={tab.to}
          className={tabClasses.tab}
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {tab.label}
          {tab.count !== undefined && tab.count > 0 && <span className={tabClasses.count}>{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}

/** Shows the tabs. On the page of a guide, the tab of the guides links to that guide. */
export function ReferenceTabs() {
  const pathname = useLocation({ select: (location) => location.pathname });
  // Each guide has its own address, so the tab must link to the guide that is open.
  const guides = pathname.startsWith('/docs') ? pathname : '/docs';
  const tabs = [
    { to: '/api', label: messages.page.apiTabs.reference },
    { to: guides, label: messages.page.apiTabs.guides },
  ];
  return <LinkTabs tabs={tabs} label={messages.page.apiTabs.label} />;
}
