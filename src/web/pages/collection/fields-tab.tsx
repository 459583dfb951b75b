/** The fields in their order, with who made each what it is. */
import aliasIcon from 'icon:alternate_email';
import fieldIcon from 'icon:data_object';
import keyIcon from 'icon:key';
import linkIcon from 'icon:link';
import { Badge, Code, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { lifeQuery } from '../../service/history-queries.js';
import { fieldsQuery } from '../../service/queries.js';
import type { CollectionEvent, FieldDocument } from '../../service/types.js';
import { brief } from '../../shared/brief.js';
import { Glyph } from '../../shared/glyph.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import { Waiting } from '../../shared/waiting.js';
import { blameOf } from './blame.js';
import { columnType, defaultText, flagsOf } from './column.js';
import classes from './page.module.css';

interface Props {
  collection: string;
  chosen: string | undefined;
  mayReadHistory: boolean;
}

export function FieldsTab({ collection, chosen, mayReadHistory }: Props) {
  const { data: fields, error, refetch } = useQuery(fieldsQuery(collection));
  const { data: events } = useQuery({ ...lifeQuery(collection), enabled: mayReadHistory });
  const place = useRef<HTMLTableRowElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: 'center' }), [chosen, fields]);
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (fields === undefined) return <Waiting label="Reading the fields" height="200px" />;
  if (fields.length === 0) return <Text c="dimmed">It has no fields.</Text>;
  const blame = blameOf(events ?? []);
  return (
    <div className={classes.scroller} role="region" aria-label="Fields" tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Type</th>
            <th scope="col">Default</th>
            <th scope="col">Shown as</th>
            {mayReadHistory && <th scope="col">Last changed</th>}
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <tr
              key={field.field}
              data-chosen={field.field === chosen || undefined}
              ref={field.field === chosen ? place : undefined}
            >
              <Cells field={field} />
              {mayReadHistory && (
                <td className={classes.blame}>
                  <Blame event={blame.get(field.field)} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cells({ field: { field, type, meta, schema } }: { field: FieldDocument }) {
  return (
    <>
      <th scope="row">
        <span className={classes.field}>
          <Glyph path={iconOf(schema)} size={17} />
          <span>{field}</span>
        </span>
        {meta.note !== null && <div className={classes.quiet}>{brief(meta.note, 240)}</div>}
      </th>
      <td>
        <div>{type}</div>
        {schema !== null && <div className={classes.quiet}>{columnType(schema)}</div>}
        {flagsOf(schema).map((flag) => (
          <Badge key={flag} variant="default" tt="none" fw={500} size="xs" mr={4}>
            {flag}
          </Badge>
        ))}
      </td>
      <td>{schema !== null && defaultText(schema) !== null && <Code>{brief(defaultText(schema) ?? '', 80)}</Code>}</td>
      <td className={classes.quiet}>
        {meta.interface ?? 'nothing'}
        {meta.hidden && ', hidden'}
        {meta.readonly && ', read only'}
        {meta.required && ', required'}
      </td>
    </>
  );
}

function iconOf(schema: FieldDocument['schema']): string {
  if (schema === null) return aliasIcon;
  if (schema.is_primary_key) return keyIcon;
  return schema.foreign_key_table === null ? fieldIcon : linkIcon;
}

function Blame({ event }: { event: CollectionEvent | undefined }) {
  if (event === undefined) return null;
  return (
    <>
      <Link to="/timeline" search={{ batch: event.batch }}>
        <Time at={event.occurred_at} />
      </Link>
      <div className={classes.quiet}>
        {event.actor.name}
        {event.reason !== null && `: ${brief(event.reason, 90)}`}
      </div>
    </>
  );
}
