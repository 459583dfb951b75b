/** Parts of a page that have addresses of their own, as a row of links. */
import { Link } from '@tanstack/react-router';
import classes from './link-tabs.module.css';

export interface LinkTab {
  to: string;
  label: string;
  /** So many things wait there; none: nothing is shown. */
  count?: number | undefined;
}

export function LinkTabs({ tabs, label }: { tabs: readonly LinkTab[]; label: string }) {
  return (
    <nav className={classes.tabs} aria-label={label}>
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
