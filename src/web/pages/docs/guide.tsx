/** Renders a guide's Markdown. HTML in it is removed. */
import { Code } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import GithubSlugger from 'github-slugger';
import { type ReactNode, isValidElement, useEffect, useMemo } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CopyButton } from '../../shared/copy-button.js';
import { type Target, pictureAt, targetOf } from './pages.js';
import classes from './page.module.css';

/**
 * Scrolls to the heading in the address when the text is loaded. External links open a new tab; links to other files
 * become text.
 * @param props.page its path below docs/ without extension, the base of its links
 * @param props.text Markdown
 */
export function Guide({ page, text }: { page: string; text: string }) {
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

/** The page has its own first heading. */
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
      <div className={classes.scroller} role="group" aria-label="Table" tabIndex={0}>
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

/** Screenshots of the app are not included in it. */
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
