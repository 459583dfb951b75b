import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import classes from './link-tabs.module.css';

export interface LinkTab {
  to: string;
  label: string;
  /** A counter; none hides it. */
  count?: number | undefined;
}

/** @param props.label for screen readers */
export function LinkTabs({ tabs, label }: { tabs: readonly LinkTab[]; label: string }) {
  const place = useRef<HTMLElement>(null);
  const pathname = useLocation({ select: (location) => location.pathname });
  // Scrolls the open tab into view.
  useEffect(() => {
    const [row, open] = [place.current, place.current?.querySelector<HTMLElement>('[aria-current]')];
    if (row && open) row.scrollLeft = open.offsetLeft - row.offsetLeft - (row.clientWidth - open.offsetWidth) / 2;
  }, [pathname]);
  return (
    <nav ref={place} className={classes.tabs} aria-label={label}>
      {tabs.map((tab) => (
        <Link
          key={tab.to}
          to={tab.to}
          className={classes.tab}
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {tab.label}
          {tab.count !== undefined && tab.count > 0 && <span className={classes.count}>{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}
