import brand from 'icon:account_tree';
import { Anchor, VisuallyHidden, Box } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, Component, type ReactNode } from 'react';
import { DraftBar } from '../draft/draft-bar.js';
import { useDraft } from '../draft/store.js';
import { may, type Info } from '../service/types.js';
import { toApproveQuery } from '../service/change-queries.js';
import { useMay, useRole } from '../service/session.js';
import { Glyph } from '../shared/glyph.js';
import { Waiting, ProblemAlert } from '../shared/problem-alert.js';
import { PAGES } from './pages.js';
import { TopBar } from './top-bar.js';
import { UndoNotice } from './undo-notice.js';
import classes from './shell.module.css';
import { CHANGE, SCHEMA, infoQuery } from '../service/queries.js';

/* Keeps the frame if a page cannot be loaded or rendered. */

interface State {
  error: Error | null;
}

/** Shows the error until a reload, on any address. */
class PageBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Box p="lg">
        <ProblemAlert error={error} retry={() => location.reload()} />
      </Box>
    );
  }
}

/* Notices new events and invalidates the queries that depend on them. */

/** Milliseconds. A poll is cheaper than one connection per tab, of which a browser allows six. */
const EVERY = 4_000;

/** Information about the service; undefined until it responds. */
function useLive(): { info: Info | undefined; isLost: boolean } {
  const client = useQueryClient();
  const { data: info, isError } = useQuery({ ...infoQuery(), refetchInterval: EVERY });
  const seen = useRef<string>(undefined);
  const head = info && `${info.position} ${info.hash}`;
  useEffect(() => {
    if (head === undefined) return;
    if (seen.current !== undefined && seen.current !== head) {
      void client.invalidateQueries({ queryKey: [SCHEMA] });
      // Events of change requests are in the same log.
      void client.invalidateQueries({ queryKey: [CHANGE] });
    }
    seen.current = head;
  }, [client, head]);
  return { info, isLost: isError };
}

/** Waits until the draft was read, so that no page renders without it. Hides entries that the role may not see. */
export function Shell() {
  const role = useRole();
  const pathname = useLocation({ select: (location) => location.pathname });
  const { info, isLost } = useLive();
  const { isRead } = useDraft();
  return (
    <div className={classes.shell}>
      <Anchor href="#page" className={classes.skip}>
        Skip to content
      </Anchor>
      <nav className={classes.rail} aria-label="Pages">
        <span className={classes.mark}>
          <Glyph path={brand} size={22} />
        </span>
        {PAGES.filter(({ roles }) => roles.includes(role)).map(({ to, label, icon }) => (
          <Link
            key={to}
            to={to}
            className={classes.entry}
            data-here={isAt(to, pathname) || undefined}
            aria-current={isAt(to, pathname) ? 'page' : undefined}
          >
            <Glyph path={icon} size={22} />
            <span>{label}</span>
            {to === '/review' && <ToApprove />}
          </Link>
        ))}
      </nav>
      <TopBar info={info} isLost={isLost} />
      <main id="page" tabIndex={-1} className={classes.page}>
        <PageBoundary>
          <Suspense>{isRead ? <Outlet /> : <Waiting label="Loading your draft" />}</Suspense>
        </PageBoundary>
      </main>
      <UndoNotice />
      {may(role, 'propose') && <DraftBar />}
    </div>
  );
}

/** The number of change requests that wait for the user's approval. */
function ToApprove() {
  const { data = 0 } = useQuery({ ...toApproveQuery(), enabled: useMay('carryOut') });
  if (data === 0) return null;
  const words = data === 1 ? '1 request waits for your approval' : `${data} requests wait for your approval`;
  return (
    <span className={classes.count} title={words}>
      <span aria-hidden="true">{data > MOST_COUNTED ? `${MOST_COUNTED}+` : data}</span>
      <VisuallyHidden component="span">, {words}</VisuallyHidden>
    </span>
  );
}

const MOST_COUNTED = 99;

/** Addresses outside a page that belong to its navigation entry. */
const BELONGS: Readonly<Record<string, readonly string[]>> = {
  '/': ['/collections/', '/new'],
  '/timeline': ['/verification'],
  '/api': ['/docs'],
};

const isAt = (to: string, pathname: string): boolean =>
  pathname === to ||
  (to !== '/' && pathname.startsWith(`${to}/`)) ||
  (BELONGS[to] ?? []).some((each) => pathname.startsWith(each));
