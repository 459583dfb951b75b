import addIcon from 'icon:add';
import aliasIcon from 'icon:alternate_email';
import keyIcon from 'icon:key';
import linkIcon from 'icon:link';
import { Badge, Button, Code, Group, Text, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Field } from '../../../schema/model/model.js';
import type { Drafted } from '../../draft/drafted.js';
import { useIndexesUnderWay } from '../../shared/indexes-under-way.js';
import { MarkBadge } from '../../draft/mark-badge.js';
import { headName, useDraftedFields, useDraftedRelations } from '../../draft/use-drafted.js';
import { useDraft } from '../../draft/use-draft.js';
import { lifeQuery } from '../../service/history-queries.js';
import type { CollectionEvent } from '../../service/types.js';
import { brief } from '../../shared/brief.js';
import { typeText } from '../../shared/column-text.js';
import { Glyph } from '../../shared/glyph.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import { Waiting } from '../../shared/waiting.js';
import { blameOf } from './blame.js';
import { defaultText, flagsOf } from './column.js';
import { typeIcon } from './type-icon.js';
import { FieldMenu } from './field-menu.js';
import { inOrder } from './field-order.js';
import type { EditName } from '../../editing/edit-names.js';
import classes from './page.module.css';

interface Props {
  collection: string;
  chosen: string | undefined;
  mayReadHistory: boolean;
  /** Null without permission. */
  onEdit: ((edit: EditName, of?: string) => void) | null;
}

/**
 * By `sort`. Scrolls to the selected field. Changes are shown only to roles that may read the history.
 * @param props.chosen the name of a field; unknown names are ignored
 */
export function FieldsTab(props: Props) {
  const { collection, onEdit } = props;
  const { data: drafted, error, refetch } = useDraftedFields(collection);
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (drafted === undefined) return <Waiting label="Loading the fields" height="200px" />;
  return (
    <>
      {onEdit !== null && (
        <Group mb="sm" gap="xs">
          <Button size="xs" leftSection={<Glyph path={addIcon} size={18} />} onClick={() => onEdit('new-field')}>
            New field
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<Glyph path={linkIcon} size={18} />}
            onClick={() => onEdit('new-relation')}
          >
            New relation
          </Button>
        </Group>
      )}
      {drafted.length === 0 ? <Text c="dimmed">No fields.</Text> : <FieldTable {...props} fields={inOrder(drafted)} />}
    </>
  );
}

function FieldTable({ fields, collection, chosen, mayReadHistory, onEdit }: Props & { fields: Drafted<Field>[] }) {
  const { draft } = useDraft();
  const head = headName(draft, collection);
  const leading = useLeading(collection);
  const { data: events } = useQuery({ ...lifeQuery(head ?? ''), enabled: mayReadHistory && head !== null });
  const indexed = new Set(useIndexesUnderWay(mayReadHistory, head).map((step) => step.field));
  const place = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    // Some browsers return a promise, which an effect must not return.
    place.current?.scrollIntoView({ block: 'center' });
  }, [chosen]);
  const blame = blameOf(events ?? []);
  return (
    <div className={classes.scroller} role="region" aria-label="Fields" tabIndex={0}>
      <table className={`${classes.table} ${classes.fields}`}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Type</th>
            <th scope="col">Default</th>
            <th scope="col">Interface</th>
            {mayReadHistory && <th scope="col">Last changed</th>}
            {onEdit !== null && (
              <th scope="col" className={classes.menu}>
                <VisuallyHidden component="span">Actions</VisuallyHidden>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {fields.map(({ document: field, how }) => (
            <tr
              key={field.field}
              data-chosen={field.field === chosen || undefined}
              data-how={how}
              ref={field.field === chosen ? place : undefined}
            >
              <Cells
                field={field}
                isLink={leading.has(field.field)}
                isIndexing={indexed.has(headField(draft, collection, field.field))}
                mark={<MarkBadge how={how} />}
              />
              {mayReadHistory && (
                <td className={classes.blame}>
                  <Blame event={blame.get(headField(draft, collection, field.field))} field={field.field} />
                </td>
              )}
              {onEdit !== null && (
                <td className={classes.menu}>
                  <FieldMenu fields={fields} field={field} how={how} onEdit={onEdit} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The fields that reference another collection. */
function useLeading(collection: string): ReadonlySet<string> {
  const { data: relations = [] } = useDraftedRelations();
  return new Set(
    relations.flatMap(({ document: { many_collection: many, many_field: field }, how }) =>
      many === collection && how !== 'removed' ? [field] : [],
    ),
  );
}

const headField = ({ names }: ReturnType<typeof useDraft>['draft'], collection: string, field: string): string =>
  names.fields.get(collection)?.get(field) ?? field;

interface CellsProps {
  field: Field;
  isLink: boolean;
  /** Its index is being built. */
  isIndexing: boolean;
  mark: React.ReactNode;
}

function Cells({ field: { field, type, meta, schema }, isLink, isIndexing, mark }: CellsProps) {
  return (
    <>
      <th scope="row">
        <span className={classes.field}>
          <Glyph path={iconOf(type, schema, isLink)} size={17} />
          <span>{field}</span>
          {mark}
        </span>
        {meta.note !== null && <div className={classes.quiet}>{brief(meta.note, 240)}</div>}
      </th>
      <td>
        <TypeOf type={type} schema={schema} isIndexing={isIndexing} />
      </td>
      <td data-label="Default">
        {schema !== null && defaultText(schema) !== null && <Code>{brief(defaultText(schema) ?? '', 80)}</Code>}
      </td>
      <td className={classes.quiet} data-label="Shown as">
        {meta.interface ?? 'nothing'}
        {meta.hidden && ', hidden'}
        {meta.readonly && ', read only'}
        {meta.required && ', required'}
      </td>
    </>
  );
}

function TypeOf({ type, schema, isIndexing }: Pick<Field, 'type' | 'schema'> & Pick<CellsProps, 'isIndexing'>) {
  return (
    <>
      <span className={classes.type}>
        {type}
        {flagsOf(schema).map((flag) => (
          <Badge key={flag} variant="default" tt="none" fw={500} size="xs">
            {flag}
          </Badge>
        ))}
        {isIndexing && (
          <Badge variant="light" color="cyan" tt="none" fw={500} size="xs" className={classes.indexing}>
            creating index
          </Badge>
        )}
      </span>
      {schema !== null && typeText(schema) !== type && <div className={classes.quiet}>{typeText(schema)}</div>}
    </>
  );
}

function iconOf(type: Field['type'], schema: Field['schema'], isLink: boolean): string {
  if (schema === null) return aliasIcon;
  if (schema.is_primary_key) return keyIcon;
  return isLink ? linkIcon : typeIcon(type);
}

function Blame({ event, field }: { event: CollectionEvent | undefined; field: string }) {
  if (event === undefined) return null;
  // Uses names at the head, because the draft may rename.
  const search = { collection: event.collection ?? '', field: event.field ?? field };
  return (
    <>
      <Link to="/timeline" search={{ batch: event.batch }}>
        <Time at={event.occurred_at} />
      </Link>{' '}
      <Link to="/timeline" search={search} className={classes.all} aria-label={`All changes of ${field}`}>
        all changes
      </Link>
      <div className={classes.quiet}>
        {event.actor.name}
        {event.reason !== null && `: ${brief(event.reason, 90)}`}
      </div>
    </>
  );
}
