/** Shows SQL with highlighted syntax, and objects in PostgreSQL that depend on others. */
import { Badge, Code } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import pgsql from 'highlight.js/lib/languages/pgsql';
import { createLowlight } from 'lowlight';
import { type ReactNode, useMemo } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import { objectNameParts, splitQualifiedId } from '../../schema/model/object-ids.js';
import { type ObjectName, isOnTable, isRoutine } from '../../schema/model/objects.js';
import { collectionsQuery, infoQuery, objectsQuery } from '../service/queries.js';
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

interface DependentsProps {
  of: DatabaseTable['dependents'];
  /** The collection whose dependents are listed. Absent for those of an object. */
  collection?: string;
  /** Items before the dependents. */
  children?: ReactNode;
}

/** Lists dependents with links to the pages of managed objects and collections. */
export function Dependents({ of, collection, children }: DependentsProps) {
  const targetOf = useTargets(collection);
  return (
    <ul className={classes.dependents}>
      {children}
      {of.map((dependent) => (
        <Dependent key={`${dependent.kind} ${dependent.name}`} kind={messages.catalog.kind(dependent.kind)}>
          <TargetLink to={targetOf(dependent)}>
            <Code>{dependent.name}</Code>
          </TargetLink>
          {dependent.by === 'text' && <span className={classes.quiet}>{` ${messages.catalog.mentions}`}</span>}
        </Dependent>
      ))}
    </ul>
  );
}

function TargetLink({ to, children }: { to: Target | undefined; children: ReactNode }) {
  if (to === undefined) return children;
  if ('kind' in to)
    return (
      <Link to="/objects" search={{ kind: to.kind, id: to.id }}>
        {children}
      </Link>
    );
  const { collection: name, field } = to;
  return (
    <Link to="/collections/$name" params={{ name }} search={field === undefined ? {} : { field }}>
      {children}
    </Link>
  );
}

type NamedDependent = DatabaseTable['dependents'][number];

/** The page of an object, of a collection or of one of its fields. */
type Target = ObjectName | { collection: string; field?: string };

/** Returns a function that finds the page of a dependent. Unmanaged objects have none. */
function useTargets(collection: string | undefined): (dependent: NamedDependent) => Target | undefined {
  const { data: info } = useQuery(infoQuery());
  const { data: objects = [] } = useQuery({ ...objectsQuery(), enabled: info?.objects === true });
  const { data: collections = [] } = useQuery(collectionsQuery());
  return (dependent) => {
    const object = findObject(dependent, objects, collection);
    if (object !== undefined) return object;
    const target = collectionTarget(dependent);
    return collections.some((each) => each.collection === target?.collection) ? target : undefined;
  };
}

/** PostgreSQL separates the words of kinds with spaces. */
const kindOf = (kind: string): string => kind.replace(' object', '').replaceAll(' ', '_');

/** Returns the object that a dependent is. The API does not name the default schema, so an id without a schema fits any. */
function findObject(
  dependent: NamedDependent,
  objects: readonly ObjectName[],
  collection: string | undefined,
): ObjectName | undefined {
  const ofKind = objects.filter(({ kind }) => kind === kindOf(dependent.kind));
  const [first] = ofKind;
  if (first === undefined) return undefined;
  const { name, schema, table } = partsOf({ kind: first.kind, id: dependent.name }, collection);
  const found = ofKind.filter((object) => {
    const own = partsOf(object, collection);
    return own.name === name && own.table === table && (own.schema === undefined || own.schema === schema);
  });
  return found.find(({ id }) => dependent.name.endsWith(id)) ?? (found.length === 1 ? found[0] : undefined);
}

/** Returns the parts that identify an object without argument types. Triggers of the collection itself are listed by name. */
function partsOf(object: ObjectName, collection: string | undefined) {
  if (isRoutine(object)) return { ...splitQualifiedId(object.id.replace(/\(.*/s, '')), table: undefined };
  const { name, schema, table } = objectNameParts(object);
  const isOwn = table === null && isOnTable(object);
  return { name, schema, table: table === null ? isOwn && collection : splitQualifiedId(table).name };
}

const QUALIFIED = /^(?:for )?(?:"(?:[^"]|"")+"|[^".]+)\.("(?:[^"]|"")+"|[^".]+)(?:\.("(?:[^"]|"")+"|[^".]+))?$/;

/** Returns the collection of a table, a column, a default value or a constraint. */
function collectionTarget({ name }: NamedDependent): { collection: string; field?: string } | undefined {
  const [, table, column] = QUALIFIED.exec(name.replace(/^.* on /s, '')) ?? [];
  if (table === undefined) return undefined;
  return { collection: unquoted(table), ...(column !== undefined && { field: unquoted(column) }) };
}

const unquoted = (name: string): string => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);

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
