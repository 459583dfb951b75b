/** Shows SQL with highlighted syntax, and objects in PostgreSQL that depend on others. */
import { Badge, Code } from '@mantine/core';
import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import pgsql from 'highlight.js/lib/languages/pgsql';
import { createLowlight } from 'lowlight';
import { type ReactNode, useMemo } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import type { DatabaseTable } from '../service/types.js';
import classes from './catalog.module.css';
import { messages } from './messages.js';
import { visibleSql } from './text.js';

const LANGUAGE = 'pgsql';
const lowlight = createLowlight({ [LANGUAGE]: pgsql });

/** Highlighting takes some milliseconds per thousand characters. Longer text is shown without it. */
const LONGEST = 50_000;

/** Hidden characters are escaped before the highlighting, so that no colour depends on them. */
export function SqlText({ sql }: { sql: string }) {
  return useMemo(() => {
    const text = visibleSql(sql);
    if (text.length > LONGEST) return text;
    return toJsxRuntime(lowlight.highlight(LANGUAGE, text), { Fragment, jsx, jsxs });
  }, [sql]);
}

interface BlockProps {
  sql: string;
  label: string;
  className?: string | undefined;
}

export function SqlBlock({ sql, label, className }: BlockProps) {
  return (
    <pre className={`${classes.sql} ${className ?? ''}`} tabIndex={0} aria-label={label}>
      <SqlText sql={sql} />
    </pre>
  );
}

/** @param props.children items, before the dependents */
export function Dependents({ of, children }: { of: DatabaseTable['dependents']; children?: ReactNode }) {
  return (
    <ul className={classes.dependents}>
      {children}
      {of.map(({ kind, name, by }) => (
        <Dependent key={`${kind} ${name}`} kind={messages.catalog.kind(kind)}>
          <Code>{name}</Code>
          {by === 'text' && <span className={classes.quiet}>{` ${messages.catalog.mentions}`}</span>}
        </Dependent>
      ))}
    </ul>
  );
}

export function Dependent({ kind, children }: { kind: string; children: ReactNode }) {
  return (
    <li>
      <Badge variant="default" tt="none" fw={500} size="sm" className={classes.kind}>
        {kind}
      </Badge>
      <span>{children}</span>
    </li>
  );
}
