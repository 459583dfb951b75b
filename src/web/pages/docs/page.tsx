import { NativeSelect, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import headings from 'docs:headings';
import { Answered } from '../../shared/answered.js';
import { NotFound } from '../../shared/not-found.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { ReferenceTabs } from '../reference/reference-tabs.js';
import { Guide } from './guide.js';
import { guideQuery } from './pages.js';
import classes from './page.module.css';

const TITLES = headings.filter(({ anchor }) => anchor === '');

/** In order. Guides in a subfolder are linked from their main guide. */
const GUIDES = TITLES.filter(({ page }) => !page.includes('/'));

/** Shows the first guide by default. An unknown name shows a message beside the list. */
export function DocsPage() {
  const { page = GUIDES[0]?.page ?? '' } = useParams({ strict: false });
  const guide = useQuery(guideQuery(page));
  const title = TITLES.find((each) => each.page === page)?.title ?? page;
  const isNarrow = useMediaQuery('(max-width: 62em)');
  useTitle(`${title} · Guides`);
  return (
    <Page wide>
      <Title order={1} size="h3" mb="sm">
        API
      </Title>
      <ReferenceTabs />
      <div className={classes.guides}>
        {isNarrow ? <Choice page={page} /> : <Contents page={page} />}
        <article className={classes.guide} aria-label={title}>
          <Answered query={guide} label={`Loading ${title}`}>
            {(text) => (text === null ? <NotFound /> : <Guide key={page} page={page} text={text} />)}
          </Answered>
        </article>
      </div>
    </Page>
  );
}

const isWithin = (page: string, guide: string): boolean => page === guide || page.startsWith(`${guide}/`);

function Contents({ page }: { page: string }) {
  return (
    <nav className={classes.contents} aria-label="Guides">
      {GUIDES.map((each) => (
        <div key={each.page}>
          <Link
            to="/docs/$page"
            params={{ page: each.page }}
            className={classes.entry}
            aria-current={isWithin(page, each.page) ? 'page' : undefined}
          >
            {each.title}
          </Link>
        </div>
      ))}
    </nav>
  );
}

function Choice({ page }: { page: string }) {
  const navigate = useNavigate();
  return (
    <NativeSelect
      label="Guide"
      data={GUIDES.map((each) => ({ value: each.page, label: each.title }))}
      value={page.split('/')[0]}
      onChange={(event) => void navigate({ to: '/docs/$page', params: { page: event.currentTarget.value } })}
    />
  );
}
