import { NativeSelect, Title, Code } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery, queryOptions } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import headings from 'docs:headings';
import GithubSlugger from 'github-slugger';
import { type ReactNode, isValidElement, useEffect, useMemo } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { QueryResult } from '../../shared/problem-alert.js';
import { NotFound, Page, useTitle, ReferenceTabs } from '../../shared/page.js';
import classes from './page.module.css';
import { CopyButton } from '../../shared/buttons.js';
import { messages } from '../reference/messages.js';

/* Renders a guide's Markdown. HTML in it is removed. */

/* The guides in docs/ of this release, each loaded on use. */

// The API reference is a separate page.
const TEXTS = import.meta.glob<string>(['../../../../docs/**/*.md', '!../../../../docs/api/**'], {
  query: '?raw',
  import: 'default',
});
const PICTURES = import.meta.glob<string>('../../../../docs/images/*.svg', {
  query: '?url',
  import: 'default',
  eager: true,
});

const FOLDER = '../../../../docs/';

/** @param page the path below docs/ without extension: `trash`, `findings/rewrite` */
const pathOf = (page: string): string => `${FOLDER}${page}.md`;

/** Reads a guide. Null for an unknown page. */
const guideQuery = (page: string) =>
  queryOptions({
    queryKey: ['guide', page],
    staleTime: Infinity,
    queryFn: async () => (await TEXTS[pathOf(page)]?.()) ?? null,
  });

/** Returns the address of an image in the guide `page`: `images/log.svg`. */
const pictureAt = (source: string, page: string): string | undefined => PICTURES[`${FOLDER}${fileAt(source, page)}`];

type Target =
  | { to: 'page'; page: string; hash: string }
  | { to: 'reference' }
  | { to: 'here'; hash: string }
  | { to: 'web'; href: string }
  | { to: 'nowhere' };

/** Returns the target in the app of a link in the guide `page`. */
function targetOf(href: string, page: string): Target {
  if (/^https?:\/\//.test(href)) return { to: 'web', href };
  const [file = '', hash = ''] = href.split('#');
  if (file === '') return { to: 'here', hash };
  const [, target] = /^(.+)\.md$/.exec(fileAt(file, page)) ?? [];
  if (target?.startsWith('api/') === true) return { to: 'reference' };
  return target !== undefined && pathOf(target) in TEXTS ? { to: 'page', page: target, hash } : { to: 'nowhere' };
}

/** Returns the path relative to docs/. */
const fileAt = (file: string, page: string): string =>
  decodeURIComponent(new URL(file, `http://guides/${page}.md`).pathname.slice(1));

/**
 * Shows a guide, and scrolls to the heading in the address when the text is loaded. External links open in a new tab.
 * Links to other files become text.
 * @param props.page the path of the guide below docs/ without extension, to which its links are relative
 * @param props.text Markdown
 */
function Guide({ page, text }: { page: string; text: string }) {
  const components = useMemo(() => componentsOf(page), [page]);
  // The heading exists only after the text is loaded.
  useEffect(() => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (id !== '') document.getElementById(id)?.scrollIntoView();
  }, [text]);
  return (
    <div className={classes.text}>
      <Markdown remarkPlugins={[remarkGfm]} components={components} skipHtml>
        {text}
      </Markdown>
    </div>
  );
}

function textOf(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  if (Array.isArray(node)) return node.map(textOf).join('');
  return isValidElement<{ children?: ReactNode }>(node) ? textOf(node.props.children) : '';
}

type Level = 'h2' | 'h3' | 'h4';

/** Lowers the level of headings, because the page already has a first heading. */
const LOWER: Readonly<Record<string, Level>> = { h1: 'h2', h2: 'h3', h3: 'h4', h4: 'h4' };

function componentsOf(page: string): Components {
  const slugs = new Map<string, string>();
  const heading = (level: string) =>
    function Heading({ children }: { children?: ReactNode }) {
      const text = textOf(children);
      const Tag = LOWER[level] as Level;
      const id = slugs.get(text) ?? new GithubSlugger().slug(text);
      slugs.set(text, id);
      return (
        <Tag id={id} data-level={level}>
          {children}
        </Tag>
      );
    };
  return {
    h1: heading('h1'),
    h2: heading('h2'),
    h3: heading('h3'),
    h4: heading('h4'),
    a: ({ href = '', children }) => <Anchored target={targetOf(href, page)}>{children}</Anchored>,
    img: ({ src, alt }) => <Picture address={pictureAt(String(src), page)} alt={alt ?? ''} />,
    pre: ({ children }) => <Block>{children}</Block>,
    code: ({ children }) => <Code>{children}</Code>,
    // A group and not a region, because a page may have several tables and landmarks need unique names.
    table: ({ children }) => (
      <div className={classes.scroller} role="group" aria-label={messages.guides.table} tabIndex={0}>
        <table>{children}</table>
      </div>
    ),
  };
}

function Anchored({ target, children }: { target: Target; children: ReactNode }) {
  switch (target.to) {
    case 'page':
      return (
        <Link to="/docs/$page" params={{ page: target.page }} hash={target.hash}>
          {children}
        </Link>
      );
    case 'reference':
      return <Link to="/api">{children}</Link>;
    case 'here':
      return <a href={`#${target.hash}`}>{children}</a>;
    case 'web':
      return (
        <a href={target.href} target="_blank" rel="noreferrer">
          {children}
        </a>
      );
    case 'nowhere':
      return <>{children}</>;
  }
}

/** Shows an image of a guide. Screenshots of the app are not part of the build. */
function Picture({ address, alt }: { address: string | undefined; alt: string }) {
  return address === undefined ? null : <img src={address} alt={alt} className={classes.picture} />;
}

function Block({ children }: { children: ReactNode }) {
  const text = textOf(children).trimEnd();
  return (
    <div className={classes.block}>
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}

const TITLES = headings.filter(({ anchor }) => anchor === '');

/** The guides in order. Guides in a subfolder are not included, because their main guide links to them. */
const GUIDES = TITLES.filter(({ page }) => !page.includes('/'));

/** Shows a guide, by default the first one. For an unknown name, a message is shown next to the list. */
export function DocsPage() {
  const { page = GUIDES[0]?.page ?? '' } = useParams({ strict: false });
  const guide = useQuery(guideQuery(page));
  const title = TITLES.find((each) => each.page === page)?.title ?? page;
  const isNarrow = useMediaQuery('(max-width: 62em)');
  useTitle(messages.guides.titleOf(title));
  return (
    <Page wide>
      <Title order={1} size="h3" mb="sm">
        {messages.title}
      </Title>
      <ReferenceTabs />
      <div className={classes.guides}>
        {isNarrow ? <Choice page={page} /> : <Contents page={page} />}
        <article className={classes.guide} aria-label={title} lang="en">
          <QueryResult query={guide} label={messages.guides.loading(title)}>
            {(text) => (text === null ? <NotFound /> : <Guide key={page} page={page} text={text} />)}
          </QueryResult>
        </article>
      </div>
    </Page>
  );
}

const isWithin = (page: string, guide: string): boolean => page === guide || page.startsWith(`${guide}/`);

function Contents({ page }: { page: string }) {
  return (
    <nav className={classes.contents} aria-label={messages.guides.list}>
      {GUIDES.map((each) => (
        <div key={each.page} lang="en">
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
      label={messages.guides.guide}
      lang="en"
      data={GUIDES.map((each) => ({ value: each.page, label: each.title }))}
      value={page.split('/')[0]}
      onChange={(event) => void navigate({ to: '/docs/$page', params: { page: event.currentTarget.value } })}
    />
  );
}
