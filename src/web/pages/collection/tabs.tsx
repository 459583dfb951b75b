/** Shows the relations of a collection, its table in PostgreSQL, and its history. */
import { ActionIcon, Badge, Button, Menu, Stack, Text, Title, VisuallyHidden, Code } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import addIcon from 'icon:add_link';
import moreIcon from 'icon:more_vert';
import type { ReactNode } from 'react';
import type { NewRelation } from '../../../schema/model/model.js';
import { MarkBadge } from '../../draft/draft-bar.js';
import { discard } from '../../draft/edits.js';
import type { MarkedDocument } from '../../draft/marked-documents.js';
import { memberKey } from '../../draft/model.js';
import { editDraft, useDraftedRelations } from '../../draft/store.js';
import type { EditName } from '../../editing/edit-names.js';
import { collectionEventsQuery } from '../../service/history-queries.js';
import { collectionsQuery, databaseTableQuery, relationsQuery } from '../../service/queries.js';
import type { DatabaseTable } from '../../service/types.js';
import { EventHistory } from '../../shared/changes/change-list.js';
import { Dependent, Dependents } from '../../shared/catalog.js';
import { messages as shared } from '../../shared/messages.js';
import { Glyph } from '../../shared/glyph.js';
import { useIndexesUnderWay } from '../../service/change-queries.js';
import { Name } from '../../shared/name.js';
import { Section } from '../../shared/page.js';
import { LoadingIndicator, ProblemAlert, QueryResult } from '../../shared/problem-alert.js';
import { bytesText, abbreviate, visibleSql } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import { messages } from './messages.js';
import classes from './page.module.css';
import tableClasses from './table-tab.module.css';
import { locale } from '../../shared/language.js';

type OnEdit = ((edit: EditName, of?: string) => void) | null;

/**
 * Shows the relations on both sides. A relation of the collection to itself is in both parts, and a many-to-any
 * relation is shown at each target.
 * @param props.onEdit null if the user may not edit, or if there is no table. `of` is a `memberKey`
 */
export function RelationsTab({ collection, onEdit }: { collection: string; onEdit: OnEdit }) {
  const { data: relations, error, refetch } = useDraftedRelations();
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (relations === undefined) return <LoadingIndicator label={messages.relations.loading} height="200px" />;
  const out = relations.filter(({ document }) => document.many_collection === collection);
  const into = relations.filter(
    ({ document: { one_collection: one, one_allowed_collections: allowed } }) =>
      one === collection || allowed?.includes(collection),
  );
  return (
    <Stack gap="xl">
      {onEdit !== null && (
        <Button
          size="xs"
          w="fit-content"
          leftSection={<Glyph path={addIcon} size={18} />}
          onClick={() => onEdit('new-relation')}
        >
          {messages.relations.create}
        </Button>
      )}
      <RelationsTabPart
        title={messages.relations.outgoing}
        label={messages.relations.outgoingRelations}
        relations={out}
        empty={messages.relations.noOutgoing}
        onEdit={onEdit}
      />
      <RelationsTabPart
        title={messages.relations.incoming}
        label={messages.relations.incomingRelations}
        relations={into}
        empty={messages.relations.noIncoming}
        onEdit={onEdit}
      />
    </Stack>
  );
}

interface PartProps {
  title: string;
  /** For screen readers. */
  label: string;
  relations: readonly MarkedDocument<NewRelation>[];
  empty: string;
  onEdit: OnEdit;
}

function RelationsTabPart({ title, label, relations, empty, onEdit }: PartProps) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {relations.length === 0 ? (
        <Text size="sm" c="dimmed">
          {empty}
        </Text>
      ) : (
        <div className={classes.scroller} role="region" aria-label={label} tabIndex={0}>
          <table className={`${classes.table} ${classes.cards}`}>
            <thead>
              <tr>
                <th scope="col">{messages.relations.field}</th>
                <th scope="col">{messages.relations.related}</th>
                <th scope="col">{messages.relations.reverse}</th>
                <th scope="col">{messages.relations.foreignKey}</th>
                {onEdit !== null && (
                  <th scope="col" className={classes.menu}>
                    <VisuallyHidden component="span">{messages.menu.column}</VisuallyHidden>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {relations.map((drafted) => (
                <Row
                  key={memberKey(drafted.document.many_collection, drafted.document.many_field)}
                  drafted={drafted}
                  onEdit={onEdit}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ drafted, onEdit }: { drafted: MarkedDocument<NewRelation>; onEdit: OnEdit }) {
  const { document, mark } = drafted;
  const { many_collection: many, many_field: field, one_collection: one, schema } = document;
  const targets = one === null ? (document.one_allowed_collections ?? []) : [one];
  return (
    <tr data-mark={mark}>
      <th scope="row">
        <Link to="/collections/$name" params={{ name: many }} search={{ field }}>
          {`${many}.${field}`}
        </Link>{' '}
        <MarkBadge mark={mark} />
      </th>
      <td data-label={messages.relations.related}>
        {targets.map((target, index) => (
          <span key={target}>
            {index > 0 && ', '}
            <Link to="/collections/$name" params={{ name: target }}>
              {target}
            </Link>
          </span>
        ))}
        {one === null && (
          <div className={classes.quiet}>{messages.relations.oneOf(document.one_collection_field ?? '')}</div>
        )}
        {document.junction_field !== null && (
          <div className={classes.quiet}>{messages.relations.manyToMany(document.junction_field)}</div>
        )}
      </td>
      <td data-label={messages.relations.reverse}>
        {document.one_field ?? <span className={classes.quiet}>{messages.relations.none}</span>}
      </td>
      <td data-label={messages.relations.foreignKey}>
        {schema === null ? <span className={classes.quiet}>{messages.relations.none}</span> : <Key schema={schema} />}
      </td>
      {onEdit !== null && (
        <td className={classes.menu}>
          <RelationMenu drafted={drafted} onEdit={onEdit} />
        </td>
      )}
    </tr>
  );
}

function Key({ schema }: { schema: NonNullable<NewRelation['schema']> }) {
  return (
    <>
      {/* The service chooses the name of a foreign key in the draft. */}
      <div>{(schema.constraint_name as string | undefined) ?? messages.relations.newKey}</div>
      <Badge variant="default" tt="none" fw={500} size="xs" mr={4}>
        {messages.relations.onDelete(schema.on_delete.toLowerCase())}
      </Badge>
      {schema.on_update !== 'NO ACTION' && (
        <Badge variant="default" tt="none" fw={500} size="xs">
          {messages.relations.onUpdate(schema.on_update.toLowerCase())}
        </Badge>
      )}
    </>
  );
}

function RelationMenu({
  drafted: { document, mark },
  onEdit,
}: {
  drafted: MarkedDocument<NewRelation>;
  onEdit: NonNullable<OnEdit>;
}) {
  const key = memberKey(document.many_collection, document.many_field);
  return (
    <Menu position="bottom-end" width={200} shadow="md">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={messages.menu.title(`${document.many_collection}.${document.many_field}`)}
        >
          <Glyph path={moreIcon} size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {mark !== 'removed' && <Menu.Item onClick={() => onEdit('relation', key)}>{messages.menu.edit}</Menu.Item>}
        {mark !== undefined && (
          <Menu.Item onClick={() => editDraft((draft) => discard(draft, 'relations', key))}>
            {mark === 'removed' ? messages.menu.undoDeletion : messages.menu.discard}
          </Menu.Item>
        )}
        {mark !== 'removed' && (
          <Menu.Item color="red" onClick={() => onEdit('delete-relation', key)}>
            {messages.menu.delete}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/**
 * Shows the data of PostgreSQL, which does not contain the draft. It is refetched each time the tab opens. Missing
 * values are shown as unknown.
 */
export function TableTab({ collection }: { collection: string }) {
  return (
    <QueryResult query={useQuery(databaseTableQuery(collection))} label={messages.table.loading}>
      {(table) => (
        <Stack gap="xl">
          <Figures table={table} />
          <TableDependents collection={collection} dependents={table.dependents} />
          <UnderWay collection={collection} />
          <Indexes indexes={table.indexes} />
          <Constraints constraints={table.constraints} />
        </Stack>
      )}
    </QueryResult>
  );
}

const sizeText = (bytes: number | null): string => (bytes === null ? messages.table.unknown : bytesText(bytes));

function Figures({ table: { rows, bytes, analyzed_at: at } }: { table: DatabaseTable }) {
  const figures: [string, ReactNode][] = [
    [messages.table.estimatedRows, rows === null ? messages.table.unknown : rows.toLocaleString(locale)],
    [messages.table.totalSize, sizeText(bytes.total)],
    [messages.table.tableSize, sizeText(bytes.table)],
    [messages.table.indexSize, sizeText(bytes.indexes)],
    [messages.table.lastAnalyzed, at === null ? messages.table.never : <Time key="at" at={at} />],
  ];
  return (
    <dl className={tableClasses.figures}>
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

function TableDependents({ collection, dependents }: DependentsProps) {
  const { data: relations = [] } = useQuery(relationsQuery());
  const { data: collections = [] } = useQuery(collectionsQuery());
  const from = relations.filter(
    ({ related_collection: one, meta }) => one === collection || meta.one_allowed_collections?.includes(collection),
  );
  const inside = collections.filter(({ meta }) => meta.group === collection);
  const isNone = from.length + inside.length + dependents.length === 0;
  return (
    <Section title={messages.table.dependents}>
      {isNone && (
        <Text size="sm" c="dimmed">
          {messages.table.noDependents}
        </Text>
      )}
      <Dependents of={dependents} collection={collection}>
        {from.map(({ collection: many, field }) => (
          <Dependent key={`${many}.${field}`} kind={messages.table.relation}>
            <Link to="/collections/$name" params={{ name: many }} search={{ field }}>
              {`${many}.${field}`}
            </Link>
          </Dependent>
        ))}
        {inside.map(({ collection: name }) => (
          <Dependent key={name} kind={messages.table.nested}>
            <Link to="/collections/$name" params={{ name }}>
              {name}
            </Link>
          </Dependent>
        ))}
      </Dependents>
    </Section>
  );
}

/** Shows objects that are being built while the table remains in use. */
function UnderWay({ collection }: { collection: string }) {
  const own = useIndexesUnderWay(true, collection);
  if (own.length === 0) return null;
  return (
    <Section title={messages.table.creating(own.length)}>
      {own.map(({ key, request, field, summary, state, done }) => (
        <Named
          key={key}
          name={field ?? collection}
          definition={summary}
          flags={[state === 'waiting' ? messages.table.waiting : messages.table.beingCreated]}
          facts={[done !== null && messages.table.percent(Math.floor(done * 100))]}
          more={
            <Link to="/review" search={{ change: request }}>
              {messages.table.showRequest}
            </Link>
          }
        />
      ))}
    </Section>
  );
}

function Indexes({ indexes }: { indexes: DatabaseTable['indexes'] }) {
  return (
    <Section title={messages.table.indexes(indexes.length)}>
      {indexes.map(({ name, definition, bytes, scans, primary, unique, valid }) => (
        <Named
          key={name}
          name={name}
          definition={definition}
          flags={[
            primary ? messages.table.primaryKey : unique && messages.table.unique,
            !valid && messages.table.invalid,
          ]}
          facts={[bytes !== null && bytesText(bytes), scans !== null && messages.table.used(scans)]}
        />
      ))}
    </Section>
  );
}

function Constraints({ constraints }: { constraints: DatabaseTable['constraints'] }) {
  return (
    <Section title={messages.table.constraints(constraints.length)}>
      {constraints.map(({ name, kind, definition, valid }) => (
        <Named
          key={name}
          name={name}
          definition={definition}
          flags={[shared.catalog.kind(kind), !valid && messages.table.notValidated]}
          facts={[]}
        />
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
    <div className={tableClasses.named}>
      <div className={tableClasses.head}>
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
          {messages.table.locked}
        </Text>
      ) : (
        <Code className={tableClasses.definition}>{abbreviate(visibleSql(definition), 600)}</Code>
      )}
    </div>
  );
}

/** @param props.collection the name at the head */
export function HistoryTab({ collection }: { collection: string }) {
  return <EventHistory query={useQuery(collectionEventsQuery(collection))} />;
}
