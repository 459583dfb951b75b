/** Shows the table in PostgreSQL: its size, indexes, constraints and dependents. */
import { Badge, Code, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { collectionsQuery, databaseTableQuery, relationsQuery } from '../../service/queries.js';
import type { DatabaseTable } from '../../service/types.js';
import { bytesText, counted, abbreviate, visibleSql } from '../../shared/text.js';
import { QueryResult } from '../../shared/problem-alert.js';
import { useIndexesUnderWay } from '../../shared/indexes-under-way.js';
import { Section } from '../../shared/page.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';
import own from './table-tab.module.css';
import { Name, named } from '../../shared/name.js';

/**
 * Shows the data of PostgreSQL, which does not contain the draft. It is refetched each time the tab opens. Missing
 * values are shown as unknown.
 */
export function TableTab({ collection }: { collection: string }) {
  return (
    <QueryResult query={useQuery(databaseTableQuery(collection))} label="Loading the table">
      {(table) => (
        <Stack gap="xl">
          <Figures table={table} />
          <Dependents collection={collection} dependents={table.dependents} />
          <UnderWay collection={collection} />
          <Indexes indexes={table.indexes} />
          <Constraints constraints={table.constraints} />
        </Stack>
      )}
    </QueryResult>
  );
}

const sizeText = (bytes: number | null): string => (bytes === null ? 'unknown' : bytesText(bytes));

function Figures({ table: { rows, bytes, analyzed_at: at } }: { table: DatabaseTable }) {
  const figures: [string, ReactNode][] = [
    ['estimated rows', rows === null ? 'unknown' : rows.toLocaleString()],
    ['total size', sizeText(bytes.total)],
    ['table size', sizeText(bytes.table)],
    ['index size', sizeText(bytes.indexes)],
    ['last analyzed', at === null ? 'never' : <Time key="at" at={at} />],
  ];
  return (
    <dl className={own.figures}>
      {figures.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface DependentsProps {
  collection: string;
  dependents: DatabaseTable['dependents'];
}

function Dependents({ collection, dependents }: DependentsProps) {
  const { data: relations = [] } = useQuery(relationsQuery());
  const { data: collections = [] } = useQuery(collectionsQuery());
  const from = relations.filter(
    ({ related_collection: one, meta }) => one === collection || meta.one_allowed_collections?.includes(collection),
  );
  const inside = collections.filter(({ meta }) => meta.group === collection);
  const isNone = from.length + inside.length + dependents.length === 0;
  return (
    <Section title="Dependent objects">
      {isNone && (
        <Text size="sm" c="dimmed">
          No relation references this collection, and no view, function or trigger uses its table.
        </Text>
      )}
      <ul className={own.dependents}>
        {from.map(({ collection: many, field }) => (
          <Dependent key={`${many}.${field}`} kind="relation">
            <Link to="/collections/$name" params={{ name: many }} search={{ field }}>
              {many}.{field}
            </Link>
          </Dependent>
        ))}
        {inside.map(({ collection: name }) => (
          <Dependent key={name} kind="nested collection">
            <Link to="/collections/$name" params={{ name }}>
              {name}
            </Link>
          </Dependent>
        ))}
        {dependents.map(({ kind, name, by }) => (
          <Dependent key={`${kind} ${name}`} kind={kind}>
            <Code>{name}</Code>
            {by === 'text' && <span className={classes.quiet}> its source mentions the name</span>}
          </Dependent>
        ))}
      </ul>
    </Section>
  );
}

function Dependent({ kind, children }: { kind: string; children: ReactNode }) {
  return (
    <li>
      <Badge variant="default" tt="none" fw={500} size="sm" className={own.kind}>
        {kind}
      </Badge>
      <span>{children}</span>
    </li>
  );
}

/** Shows objects that are being built while the table remains in use. */
function UnderWay({ collection }: { collection: string }) {
  const own = useIndexesUnderWay(true, collection);
  if (own.length === 0) return null;
  return (
    <Section title={named`Creating ${counted(own.length, 'index', 'indexes')}`}>
      {own.map(({ key, request, field, summary, state, done }) => (
        <Named
          key={key}
          name={field ?? collection}
          definition={summary}
          flags={[state === 'waiting' ? 'waiting' : 'creating']}
          facts={[done !== null && `${Math.floor(done * 100)} %`]}
          more={
            <Link to="/review" search={{ change: request }}>
              Show the change request
            </Link>
          }
        />
      ))}
    </Section>
  );
}

function Indexes({ indexes }: { indexes: DatabaseTable['indexes'] }) {
  return (
    <Section title={counted(indexes.length, 'index', 'indexes')}>
      {indexes.map(({ name, definition, bytes, scans, primary, unique, valid }) => (
        <Named
          key={name}
          name={name}
          definition={definition}
          flags={[primary ? 'primary key' : unique && 'unique', !valid && 'invalid']}
          facts={[bytes !== null && bytesText(bytes), scans !== null && `used ${counted(scans, 'time')}`]}
        />
      ))}
    </Section>
  );
}

function Constraints({ constraints }: { constraints: DatabaseTable['constraints'] }) {
  return (
    <Section title={counted(constraints.length, 'constraint')}>
      {constraints.map(({ name, kind, definition, valid }) => (
        <Named key={name} name={name} definition={definition} flags={[kind, !valid && 'not validated']} facts={[]} />
      ))}
    </Section>
  );
}

interface NamedProps {
  name: string;
  definition: string | null;
  flags: readonly (string | false)[];
  facts: readonly (string | false)[];
  more?: ReactNode;
}

function Named({ name, definition, flags, facts, more }: NamedProps) {
  const sentence = facts.filter((fact) => fact !== false).join(', ');
  return (
    <div className={own.named}>
      <div className={own.head}>
        <Text size="sm" fw={550}>
          <Name of={name} />
        </Text>
        {flags.map(
          (flag) =>
            flag !== false && (
              <Badge key={flag} variant="default" tt="none" fw={500} size="xs">
                {flag}
              </Badge>
            ),
        )}
        <span className={classes.quiet}>{sentence}</span>
        {more}
      </div>
      {definition === null ? (
        <Text size="sm" c="dimmed">
          Unknown: another transaction holds an exclusive lock on the table.
        </Text>
      ) : (
        <Code className={own.definition}>{abbreviate(visibleSql(definition), 600)}</Code>
      )}
    </div>
  );
}
