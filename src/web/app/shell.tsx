import brand from 'icon:account_tree';
import { Anchor, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Suspense } from 'react';
import { DraftBar } from '../draft/draft-bar.js';
import { useDraft } from '../draft/use-draft.js';
import { may } from '../service/abilities.js';
import { toApproveQuery } from '../service/proposal-queries.js';
import { useMay, useRole } from '../service/use-session.js';
import { Glyph } from '../shared/glyph.js';
import { PageBoundary } from '../shared/page-boundary.js';
import { Waiting } from '../shared/waiting.js';
import { useLive } from './follow-log.js';
import { PAGES } from './pages.js';
import { TopBar } from './top-bar.js';
import { UndoNotice } from './undo-notice.js';
import classes from './shell.module.css';

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
  '/timeline': ['/seal'],
  '/api': ['/docs'],
};

const isAt = (to: string, pathname: string): boolean =>
  pathname === to ||
  (to !== '/' && pathname.startsWith(`${to}/`)) ||
  (BELONGS[to] ?? []).some((each) => pathname.startsWith(each));
