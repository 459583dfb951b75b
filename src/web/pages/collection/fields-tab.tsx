import addIcon from 'icon:add';
import aliasIcon from 'icon:alternate_email';
import keyIcon from 'icon:key';
import linkIcon from 'icon:link';
import {
  Badge,
  Button,
  Checkbox,
  Code,
  Group,
  Text,
  VisuallyHidden,
  ActionIcon,
  Menu,
  UnstyledButton,
} from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import moreIcon from 'icon:more_vert';
import type { Field, ColumnSchema } from '../../../schema/model/model.js';
import type { MarkedDocument, Mark } from '../../draft/marked-documents.js';
import { useIndexesUnderWay } from '../../service/change-queries.js';
import { MarkBadge } from '../../draft/draft-bar.js';
import { headName, useDraftedFields, useDraftedRelations, editSchema, useDraft, editDraft } from '../../draft/store.js';
import { collectionEventsQuery } from '../../service/history-queries.js';
import type { CollectionEvent } from '../../service/types.js';
import { abbreviate, typeText } from '../../shared/text.js';
import { Glyph } from '../../shared/glyph.js';
import { ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import type { EditName } from '../../editing/edit-names.js';
import { type DropTarget, useDragAndDrop } from '../../shared/drag-and-drop.js';
import { FieldsEdit } from '../../editing/bulk-edit.js';
import { useColumnType } from '../../editing/column-types.js';
import { withToggled } from '../../shared/items.js';
import classes from './page.module.css';
import { changesOf } from '../../shared/changes/sentences.js';
import { discard } from '../../draft/edits.js';
import { memberKey } from '../../draft/model.js';
import type { DraftEditor } from '../../draft/editor.js';
import { actorName } from '../../../schema/model/events.js';
import clockIcon from 'icon:schedule';
import jsonIcon from 'icon:data_object';
import fingerprintIcon from 'icon:fingerprint';
import numberIcon from 'icon:numbers';
import otherIcon from 'icon:category';
import switchIcon from 'icon:toggle_on';
import textIcon from 'icon:text_fields';
import { Name } from '../../shared/name.js';
import { messages } from './messages.js';

/** Sorts by `sort`. Fields without it come last in their order. */
const sortFields = (fields: readonly MarkedDocument<Field>[]): MarkedDocument<Field>[] =>
  [...fields].sort((one, other) => placeOf(one) - placeOf(other) || 0);

const placeOf = ({ document: { meta } }: MarkedDocument<Field>): number => meta.sort ?? Number.MAX_SAFE_INTEGER;

/** Moves a dragged field before or after another one. */
function dropField(
  editor: DraftEditor,
  fields: readonly MarkedDocument<Field>[],
  { name, target }: { name: string; target: DropTarget },
): void {
  const names = fields.map(({ document }) => document.field);
  const from = names.indexOf(name);
  const without = names.filter((each) => each !== name);
  move(editor, fields, { from, to: without.indexOf(target.name) + (target.side === 'after' ? 1 : 0) });
}

/** Moves a field and changes as few `sort` values as possible. */
function move(
  editor: DraftEditor,
  fields: readonly MarkedDocument<Field>[],
  { from, to }: { from: number; to: number },
): void {
  const order = fields.map(({ document }) => document);
  const [moved] = order.splice(from, 1);
  if (moved === undefined) return;
  order.splice(to, 0, moved);
  for (const [index, { collection, field }] of order.entries()) {
    const now = editor.field(collection, field);
    if (now !== undefined && now.meta.sort !== index + 1)
      editor.put('fields', { ...now, meta: { ...now.meta, sort: index + 1 } });
  }
}

interface FieldMenuProps {
  /** All fields of the collection in order. */
  fields: readonly MarkedDocument<Field>[];
  field: Field;
  mark: Mark | undefined;
  onEdit: (edit: EditName, of: string) => void;
}

/**
 * The menu of a field. Moves change the draft immediately, and other actions open a form through `onEdit`. For a
 * removed field, the only action is to keep it.
 * @param props.mark the change by the draft. Without a change, there is nothing to discard
 */
function FieldMenu({ fields, field: { collection, field }, mark, onEdit }: FieldMenuProps) {
  const client = useQueryClient();
  const from = fields.findIndex(({ document }) => document.field === field);
  const moveTo = (to: number) => void editSchema(client, [collection], (editor) => move(editor, fields, { from, to }));
  const isThere = mark !== 'removed';
  return (
    <Menu position="bottom-end" width={200} shadow="md">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={messages.menu.title(field)}>
          <Glyph path={moreIcon} size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isThere && <Menu.Item onClick={() => onEdit('field', field)}>{messages.menu.edit}</Menu.Item>}
        {isThere && <Menu.Item onClick={() => onEdit('rename-field', field)}>{messages.menu.rename}</Menu.Item>}
        {isThere && from > 0 && <Menu.Item onClick={() => moveTo(from - 1)}>{messages.menu.moveUp}</Menu.Item>}
        {isThere && from < fields.length - 1 && (
          <Menu.Item onClick={() => moveTo(from + 1)}>{messages.menu.moveDown}</Menu.Item>
        )}
        {mark !== undefined && (
          <Menu.Item onClick={() => editDraft((draft) => discard(draft, 'fields', memberKey(collection, field)))}>
            {mark === 'removed' ? messages.menu.undoDeletion : messages.menu.discard}
          </Menu.Item>
        )}
        {isThere && (
          <Menu.Item color="red" onClick={() => onEdit('delete-field', field)}>
            {messages.menu.delete}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Returns the default value as text. Null without a default. */
function defaultText({
  default_value: value,
  generation_expression: expression,
  has_auto_increment: counts,
}: ColumnSchema): string | null {
  if (expression !== null) return `= ${expression}`;
  if (counts) return messages.fields.autoIncrement;
  if (value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns words such as `not null` and `unique`. They are omitted for a key, because a key implies both.
 * @param column null for an alias, which has the word `no column`
 */
function flagsOf(column: ColumnSchema | null): string[] {
  if (column === null) return [messages.fields.noColumn];
  const { is_primary_key: isKey, is_nullable: isNullable, is_unique: isUnique, is_indexed: isIndexed } = column;
  return [
    isKey && messages.fields.primaryKey,
    !isNullable && !isKey && messages.fields.notNull,
    isUnique && !isKey && messages.fields.unique,
    isIndexed && messages.fields.indexed,
  ].filter((flag) => typeof flag === 'string');
}

/* Finds the last event that changed each field. */

/** @param events the events of the collection, newest first */
function blameOf(events: readonly CollectionEvent[]): ReadonlyMap<string, CollectionEvent> {
  const last = new Map<string, CollectionEvent>();
  for (const event of events) {
    for (const field of fieldsOf(event)) if (!last.has(field)) last.set(field, event);
  }
  return last;
}

/** Returns the fields that an event changed. A field that was created with its collection has no event of its own. */
function fieldsOf(event: CollectionEvent): string[] {
  return changesOf(event.diff).flatMap(({ field }) => (field === null ? [] : [field]));
}

interface Props {
  collection: string;
  chosen: string | undefined;
  mayReadHistory: boolean;
  /** Opens a form. Null if the user may not edit. */
  onEdit: ((edit: EditName, of?: string) => void) | null;
}

/**
 * Shows the fields by `sort`, and scrolls to the selected one. Changes are shown only to roles that may read the
 * history.
 * @param props.chosen the name of the selected field. Unknown names are ignored
 */
export function FieldsTab(props: Props) {
  const { collection, onEdit } = props;
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null);
  const { data: drafted, error, refetch } = useDraftedFields(collection);
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (drafted === undefined) return <LoadingIndicator label={messages.fields.loading} height="200px" />;
  return (
    <>
      {onEdit !== null && (
        <Group mb="sm" gap="xs">
          <Button size="xs" leftSection={<Glyph path={addIcon} size={18} />} onClick={() => onEdit('new-field')}>
            {messages.fields.newField}
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<Glyph path={linkIcon} size={18} />}
            onClick={() => onEdit('new-relation')}
          >
            {messages.fields.newRelation}
          </Button>
          <Button size="xs" variant="default" onClick={() => onEdit('definitions')}>
            {messages.fields.definitions}
          </Button>
          {drafted.length > 1 && (
            <Button
              size="xs"
              variant={selected === null ? 'default' : 'filled'}
              aria-pressed={selected !== null}
              onClick={() => setSelected(selected === null ? new Set() : null)}
            >
              {messages.fields.editSeveral}
            </Button>
          )}
        </Group>
      )}
      {selected !== null && (
        <FieldsEdit
          collection={collection}
          names={drafted.filter(({ mark }) => mark !== 'removed').map(({ document }) => document.field)}
          selected={selected}
          onSelect={setSelected}
          onDone={() => setSelected(null)}
        />
      )}
      {drafted.length === 0 ? (
        <Text c="dimmed">{messages.fields.none}</Text>
      ) : (
        <FieldTable {...props} fields={sortFields(drafted)} selected={selected} onSelect={setSelected} />
      )}
    </>
  );
}

interface FieldTableProps extends Props {
  fields: MarkedDocument<Field>[];
  /** The names of the selected fields. Null unless the user edits several fields. */
  selected: ReadonlySet<string> | null;
  onSelect: (selected: ReadonlySet<string>) => void;
}

function FieldTable({ fields, collection, chosen, mayReadHistory, onEdit, selected, onSelect }: FieldTableProps) {
  const client = useQueryClient();
  const dragProps = useDragAndDrop({
    onDrop: (name, target) =>
      void editSchema(client, [collection], (editor) => dropField(editor, fields, { name, target })),
  });
  const { draft } = useDraft();
  const head = headName(draft, collection);
  const leading = useLeading(collection);
  const { data: events } = useQuery({ ...collectionEventsQuery(head ?? ''), enabled: mayReadHistory && head !== null });
  const indexed = new Set(useIndexesUnderWay(mayReadHistory, head).map((step) => step.field));
  const place = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    // Some browsers return a promise here. An effect must not return one.
    place.current?.scrollIntoView({ block: 'center' });
  }, [chosen]);
  const blame = blameOf(events ?? []);
  return (
    <div className={classes.scroller} role="region" aria-label={messages.fields.title} tabIndex={0}>
      <table className={`${classes.table} ${classes.cards}`}>
        <thead>
          <tr>
            <th scope="col">{messages.fields.field}</th>
            <th scope="col">{messages.fields.type}</th>
            <th scope="col">{messages.fields.default}</th>
            <th scope="col">{messages.fields.interface}</th>
            {mayReadHistory && <th scope="col">{messages.fields.lastChanged}</th>}
            {onEdit !== null && (
              <th scope="col" className={classes.menu}>
                <VisuallyHidden component="span">{messages.menu.column}</VisuallyHidden>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {fields.map(({ document: field, mark }) => (
            <tr
              key={field.field}
              data-chosen={field.field === chosen || undefined}
              data-mark={mark}
              ref={field.field === chosen ? place : undefined}
              {...(onEdit !== null && mark !== 'removed' && dragProps(field.field))}
            >
              <Cells
                field={field}
                choice={
                  selected !== null && (
                    <Checkbox
                      aria-label={messages.fields.select(field.field)}
                      disabled={mark === 'removed'}
                      checked={selected.has(field.field)}
                      onChange={() => onSelect(withToggled(selected, field.field))}
                    />
                  )
                }
                isLink={leading.has(field.field)}
                isIndexing={indexed.has(headField(draft, collection, field.field))}
                onEdit={onEdit === null || mark === 'removed' ? null : () => onEdit('field', field.field)}
                mark={<MarkBadge mark={mark} />}
              />
              {mayReadHistory && (
                <td className={classes.blame}>
                  <Blame event={blame.get(headField(draft, collection, field.field))} field={field.field} />
                </td>
              )}
              {onEdit !== null && (
                <td className={classes.menu}>
                  <FieldMenu fields={fields} field={field} mark={mark} onEdit={onEdit} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Returns the fields that reference another collection. */
function useLeading(collection: string): ReadonlySet<string> {
  const { data: relations = [] } = useDraftedRelations();
  return new Set(
    relations.flatMap(({ document: { many_collection: many, many_field: field }, mark }) =>
      many === collection && mark !== 'removed' ? [field] : [],
    ),
  );
}

const headField = ({ names }: ReturnType<typeof useDraft>['draft'], collection: string, field: string): string =>
  names.fields.get(collection)?.get(field) ?? field;

interface CellsProps {
  field: Field;
  isLink: boolean;
  /** True while the index of the field is being built. */
  isIndexing: boolean;
  mark: React.ReactNode;
  /** Selects the field. */
  choice: React.ReactNode;
  /** Opens the form of the field. Null if the user cannot edit it. */
  onEdit: (() => void) | null;
}

function Cells({ field: document, isLink, isIndexing, mark, choice, onEdit }: CellsProps) {
  const { field, type, meta, schema } = document;
  return (
    <>
      <th scope="row">
        <span className={classes.field}>
          {choice}
          <Glyph path={iconOf(type, schema, isLink)} size={17} />
          {onEdit === null ? (
            <Name of={field} />
          ) : (
            <UnstyledButton className={classes.open} title={messages.menu.edit} onClick={onEdit}>
              <Name of={field} />
            </UnstyledButton>
          )}
          {mark}
        </span>
        {meta.note !== null && <div className={classes.quiet}>{abbreviate(meta.note, 240)}</div>}
      </th>
      <td>
        <TypeOf field={document} isIndexing={isIndexing} />
      </td>
      <td data-label={messages.fields.default}>
        {schema !== null && defaultText(schema) !== null && <Code>{abbreviate(defaultText(schema) ?? '', 80)}</Code>}
      </td>
      <td className={classes.quiet} data-label={messages.fields.shownAs}>
        {[
          meta.interface ?? messages.fields.noInterface,
          meta.hidden && messages.fields.hidden,
          meta.readonly && messages.fields.readOnly,
          meta.required && messages.fields.required,
        ]
          .filter((word) => typeof word === 'string')
          .join(', ')}
      </td>
    </>
  );
}

function TypeOf({ field, isIndexing }: Pick<CellsProps, 'field' | 'isIndexing'>) {
  const { type, schema } = field;
  const own = useColumnType(field);
  return (
    <>
      <span className={classes.type}>
        {own?.kind ?? type}
        {flagsOf(schema).map((flag) => (
          <Badge key={flag} variant="default" tt="none" fw={500} size="xs">
            {flag}
          </Badge>
        ))}
        {isIndexing && (
          <Badge variant="light" color="cyan" tt="none" fw={500} size="xs" className={classes.indexing}>
            {messages.fields.creatingIndex}
          </Badge>
        )}
      </span>
      {schema !== null && typeText(schema) !== type && <div className={classes.quiet}>{typeText(schema)}</div>}
      {own != null && (
        <div className={classes.quiet}>
          <Name of={abbreviate(own.text, 240)} />
        </div>
      )}
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
  // The history uses the names at the head, because the draft may rename the field.
  const search = { collection: event.collection ?? '', field: event.field ?? field };
  return (
    <>
      <Link to="/timeline" search={{ batch: event.batch }}>
        <Time at={event.occurred_at} />
      </Link>{' '}
      <Link to="/timeline" search={search} className={classes.all} aria-label={messages.fields.allChangesOf(field)}>
        {messages.fields.allChanges}
      </Link>
      <div className={classes.quiet}>
        {actorName(event.actor)}
        {event.reason !== null && `: ${abbreviate(event.reason, 90)}`}
      </div>
    </>
  );
}

const ICONS: Readonly<Record<string, string>> = {
  string: textIcon,
  text: textIcon,
  hash: textIcon,
  csv: textIcon,
  integer: numberIcon,
  bigInteger: numberIcon,
  float: numberIcon,
  decimal: numberIcon,
  boolean: switchIcon,
  date: clockIcon,
  time: clockIcon,
  dateTime: clockIcon,
  timestamp: clockIcon,
  json: jsonIcon,
  uuid: fingerprintIcon,
};

/**
 * @param type the type in the spelling of the service
 * @returns the path of an icon. Unknown types have a generic one
 */
const typeIcon = (type: string): string => ICONS[type] ?? otherIcon;
