import { SqlBlock } from '../../shared/catalog.js';
import { Tabs, Title, ActionIcon, Badge, Button, Group, Menu, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, Suspense, lazy, useState } from 'react';
import diagramIcon from 'icon:hub';
import editIcon from 'icon:edit';
import folderIcon from 'icon:folder';
import moreIcon from 'icon:more_vert';
import tableIcon from 'icon:table';
import type { Collection } from '../../../schema/model/model.js';
import type { MarkedDocument, Mark } from '../../draft/marked-documents.js';
import { headName, useDraftedCollections, useDraft } from '../../draft/store.js';
import type { EditRequest } from '../../editing/host.js';
import { ServiceError } from '../../service/send.js';
import { collectionQuery, databaseTableQuery, sampleQuery } from '../../service/queries.js';
import type { CollectionDocument, Sample } from '../../service/types.js';
import { useMay } from '../../service/session.js';
import { rememberOpener } from '../../shared/focus.js';
import { Page, useTitle } from '../../shared/page.js';
import { ProblemAlert, LoadingIndicator, QueryResult } from '../../shared/problem-alert.js';
import { FieldsTab } from './fields-tab.js';
import { HistoryTab, RelationsTab, TableTab } from './tabs.js';
import type { EditName } from '../../editing/edit-names.js';
import type { Tab } from './search.js';
import classes from './page.module.css';
import { CopyButton } from '../../shared/buttons.js';
import { MarkBadge } from '../../draft/draft-bar.js';
import { Glyph, MaterialIcon, inkOf } from '../../shared/glyph.js';
import { bytesText } from '../../shared/text.js';
import { Name } from '../../shared/name.js';
import { messages } from './messages.js';

/** Shows the size of the table. It takes its space while loading, so that the layout does not move. */
function Size({ collection }: { collection: string }) {
  const { data } = useQuery(databaseTableQuery(collection));
  return (
    <Text size="sm" c="dimmed" mt={4} mih="1.55em">
      {data !== undefined && (
        <>
          {data.rows === null ? messages.page.rowsUnknown : messages.page.aboutRows(data.rows)}
          {data.bytes.total !== null && `, ${bytesText(data.bytes.total)}`}
        </>
      )}
    </Text>
  );
}

/** Opens a form. Null if the user may not edit. */
type OnEdit = ((edit: EditName, of?: string) => void) | null;

interface HeadProps {
  document: Collection;
  mark: Mark | undefined;
  isSystem: boolean;
  onEdit: OnEdit;
}

/**
 * Shows the name and size of the collection. An object that the draft creates or renames has no size yet and is not in
 * the diagram.
 * @param props.isSystem true for a table of the service itself
 */
function Head({ document: { collection, meta, schema }, mark, isSystem, onEdit }: HeadProps) {
  const isThere = mark !== 'made' && mark !== 'renamed';
  return (
    <>
      <Group gap="sm" wrap="nowrap" align="flex-start" className={classes.top ?? ''}>
        <span className={classes.icon} style={{ color: inkOf(meta.color) }}>
          <MaterialIcon name={meta.icon} otherwise={schema === null ? folderIcon : tableIcon} size={26} />
        </span>
        <div className={classes.head}>
          <Group gap="xs">
            <Title order={1} size="h3">
              <Name of={collection} />
            </Title>
            <MarkBadge mark={mark} />
          </Group>
          <Facts meta={meta} isFolder={schema === null} isSystem={isSystem} />
          {isThere && schema !== null && !isSystem && <KnownSize collection={collection} />}
        </div>
        {isThere && <InDiagram collection={collection} />}
        {onEdit !== null && <Actions isFolder={schema === null} collection={collection} onEdit={onEdit} />}
      </Group>
      {meta.note !== null && (
        <Text className={classes.note} role="note" tabIndex={0} aria-label={messages.page.note}>
          {meta.note}
        </Text>
      )}
    </>
  );
}

/** Shows the size. Rendered only for roles that may read database facts. */
function KnownSize({ collection }: { collection: string }) {
  return useMay('readOperations') ? <Size collection={collection} /> : null;
}

function InDiagram({ collection }: { collection: string }) {
  return (
    <Button
      component={Link}
      to="/"
      search={{ c: collection, near: 1 } as never}
      variant="default"
      size="xs"
      leftSection={<Glyph path={diagramIcon} size={18} />}
    >
      {messages.page.showInDiagram}
    </Button>
  );
}

interface ActionsProps {
  isFolder: boolean;
  collection: string;
  onEdit: (edit: EditName) => void;
}

function Actions({ isFolder, collection, onEdit }: ActionsProps) {
  return (
    <>
      <Button size="xs" leftSection={<Glyph path={editIcon} size={18} />} onClick={() => onEdit('collection')}>
        {messages.page.edit}
      </Button>
      <Menu position="bottom-end" width={220} shadow="md" withinPortal={false}>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={messages.page.moreActions(collection)}>
            <Glyph path={moreIcon} size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {!isFolder && <Menu.Item onClick={() => onEdit('new-field')}>{messages.page.newField}</Menu.Item>}
          {!isFolder && <Menu.Item onClick={() => onEdit('new-relation')}>{messages.page.newRelation}</Menu.Item>}
          <Menu.Item component={Link} to="/new" search={{ group: collection } as never}>
            {messages.page.newNested}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item onClick={() => onEdit('rename')}>{messages.page.rename}</Menu.Item>
          <Menu.Item color="red" onClick={() => onEdit('delete')}>
            {messages.page.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

function Facts({ meta, isFolder, isSystem }: { meta: Collection['meta']; isFolder: boolean; isSystem: boolean }) {
  const facts = [
    isFolder && messages.page.folder,
    isSystem && messages.page.internal,
    meta.singleton && messages.page.singleton,
    meta.hidden && messages.page.hidden,
    meta.versioning && messages.page.versioning,
    meta.group !== null && messages.page.inGroup(meta.group),
  ].filter((fact) => typeof fact === 'string');
  return (
    <Group gap={6} mt={4}>
      {facts.map((fact) => (
        <Badge key={fact} variant="default" tt="none" fw={500} size="sm">
          {fact}
        </Badge>
      ))}
    </Group>
  );
}

/** @param props.sql the SQL from the service, which does not contain the draft */
function SqlTab({ sql }: { sql: string }) {
  return (
    <div className={classes.copied}>
      <SqlBlock sql={sql} label="CREATE TABLE" />
      <CopyButton text={sql} label={messages.page.copySql} />
    </div>
  );
}

const EditingHost = lazy(() => import('../../editing/host.js'));
const route = getRouteApi('/collections/$name');

/**
 * Shows a collection. The former name of a renamed collection redirects to the new one, and back after the draft is
 * discarded. Tabs that are empty or forbidden are hidden.
 */
export function CollectionPage() {
  const { name } = route.useParams();
  useTitle(name);
  const { draft } = useDraft();
  const renamed = [...draft.names.collections].find(([, former]) => former === name)?.[0];
  if (renamed !== undefined) return <Navigate to="/collections/$name" params={{ name: renamed }} replace />;
  return <LoadedCollection key={name} name={name} />;
}

function LoadedCollection({ name }: { name: string }) {
  const { draft } = useDraft();
  const head = headName(draft, name);
  const before = useBefore(name, head);
  const { data: current, error, refetch } = useQuery({ ...collectionQuery(head ?? ''), enabled: head !== null });
  const { data: collections } = useDraftedCollections();
  const shown = collections && findShown(name, collections, current);
  const isKnown = current !== undefined || head === null;
  if (shown !== undefined && isKnown) return <CollectionView drafted={shown} asked={current} />;
  if (error === null) return <LoadingIndicator label={messages.page.loading(name)} />;
  if (isNothing(error) && before !== name) return <FormerNameRedirect name={before} />;
  return (
    <Page wide>
      <Title order={1} size="h3" mb="md">
        {name}
      </Title>
      <ProblemAlert error={error} retry={() => void refetch()} />
    </Page>
  );
}

/** Redirects to the former name, or to the schema if the collection was new. */
function FormerNameRedirect({ name }: { name: string | null }) {
  return name === null ? <Navigate to="/" replace /> : <Navigate to="/collections/$name" params={{ name }} replace />;
}

/**
 * Returns how the draft had changed the collection before, even after it was discarded. Null if the page shows the
 * collection itself, and otherwise its other name.
 */
function useBefore(name: string, head: string | null): string | null {
  const [before, setBefore] = useState(head);
  if (head !== name && head !== before) setBefore(head);
  return before;
}

const isNothing = (error: Error): boolean => error instanceof ServiceError && error.status === 404;

/** Returns the document to show. System collections are in no list. */
function findShown(
  name: string,
  collections: readonly MarkedDocument<Collection>[],
  current: Collection | undefined,
): MarkedDocument<Collection> | undefined {
  const drafted = collections.find(({ document }) => document.collection === name);
  return drafted ?? (current && { document: current, before: null, mark: undefined });
}

interface CollectionViewProps {
  drafted: MarkedDocument<Collection>;
  /** The document from the service. Undefined if the collection does not exist there yet. */
  asked: CollectionDocument | undefined;
}

function CollectionView({ drafted, asked }: CollectionViewProps) {
  const { document, mark } = drafted;
  const { isSystem, sql } = factsOf(asked);
  const mayEdit = useMay('propose') && !isSystem && mark !== 'removed';
  const { begin, end } = useEditing(document.collection);
  return (
    <Page wide>
      <Head document={document} mark={mark} isSystem={isSystem} onEdit={mayEdit ? begin : null} />
      <CollectionTabs drafted={drafted} sql={sql} onEdit={mayEdit && document.schema !== null ? begin : null} />
      {mayEdit && <Editing collection={document.collection} onClose={end} />}
    </Page>
  );
}

const factsOf = (current: CollectionDocument | undefined) => ({
  isSystem: current?.meta.system === true,
  sql: current?.schema?.sql ?? null,
});

function Editing({ collection, onClose }: { collection: string; onClose: (next?: EditRequest) => void }) {
  const { edit, of } = route.useSearch();
  if (edit === undefined) return null;
  return (
    <Suspense>
      <EditingHost collection={collection} edit={edit} of={of} onClose={onClose} />
    </Suspense>
  );
}

/** Returns the open form. It is part of the address, so that going back closes it. */
function useEditing(collection: string) {
  const { edit: _, of: __, ...here } = route.useSearch();
  const navigate = route.useNavigate();
  return {
    begin: (edit: EditName, of?: string) => {
      rememberOpener();
      void navigate({ search: { ...here, edit, ...(of !== undefined && { of }) } });
    },
    end: ({ gone, field, collection: name = collection }: EditRequest = {}) => {
      const search = { ...here, ...(field !== undefined && { field }) };
      void navigate(gone === true ? { to: '/' } : { to: '/collections/$name', params: { name }, search });
    },
  };
}

interface CollectionTabsProps {
  drafted: MarkedDocument<Collection>;
  /** The SQL of the table. Null for a folder, and for a table that does not exist yet. */
  sql: string | null;
  onEdit: OnEdit;
}

function CollectionTabs({ drafted, sql, onEdit }: CollectionTabsProps) {
  const { tab = 'fields' } = route.useSearch();
  const navigate = route.useNavigate();
  const parts = useParts({ drafted, sql, onEdit });
  return (
    <Tabs
      value={tab}
      onChange={(next) => void navigate({ search: { tab: next as Tab }, replace: true })}
      mt="md"
      keepMounted={false}
    >
      <Tabs.List className={classes.tabs}>
        {parts.map(({ value, label }) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {parts.map(({ value, content }) => (
        <Tabs.Panel key={value} value={value} pt="md">
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

interface Part {
  value: Tab;
  label: string;
  content: ReactNode;
}

/** Returns the parts of the page. A new collection has only those that the draft provides. */
function useParts({ drafted: { document, mark }, sql, onEdit }: CollectionTabsProps): Part[] {
  const { collection } = document;
  const { field } = route.useSearch();
  const mayReadHistory = useMay('readHistory') && mark !== 'made';
  // The log does not contain the new name yet.
  const hasHistory = mayReadHistory && mark !== 'renamed';
  const hasTable = hasHistory && sql !== null;
  const all: (Part | false)[] = [
    {
      value: 'fields',
      label: messages.tabs.fields,
      content: <FieldsTab collection={collection} chosen={field} mayReadHistory={mayReadHistory} onEdit={onEdit} />,
    },
    {
      value: 'relations',
      label: messages.tabs.relations,
      content: <RelationsTab collection={collection} onEdit={onEdit} />,
    },
    hasTable && { value: 'table', label: messages.tabs.table, content: <TableTab collection={collection} /> },
    hasTable && { value: 'rows', label: messages.tabs.rows, content: <RowsTab collection={collection} /> },
    sql !== null && { value: 'sql', label: messages.tabs.sql, content: <SqlTab sql={sql} /> },
    hasHistory && { value: 'history', label: messages.tabs.history, content: <HistoryTab collection={collection} /> },
  ];
  return all.filter((part) => part !== false);
}

/* Shows some rows of the table. They cannot be changed. */

function RowsTab({ collection }: { collection: string }) {
  return (
    <QueryResult query={useQuery(sampleQuery(collection))} label={messages.rows.loading}>
      {(sample) => (
        <>
          <Text size="sm" c="dimmed" mb="sm">
            {summary(sample)}
          </Text>
          {sample.rows !== null && sample.rows.length > 0 && <Rows rows={sample.rows} collection={collection} />}
        </>
      )}
    </QueryResult>
  );
}

function summary({ rows, hidden }: Sample): string {
  if (rows === null) return messages.rows.unreadable;
  const some = rows.length === 0 ? messages.rows.none : messages.rows.shown(rows.length);
  return hidden.length === 0 ? some : `${some} ${messages.rows.notShown(hidden)}`;
}

function Rows({ rows, collection }: { rows: NonNullable<Sample['rows']>; collection: string }) {
  const fields = Object.keys(rows[0] ?? {});
  return (
    <div className={classes.scroller} tabIndex={0} role="region" aria-label={messages.rows.rowsOf(collection)}>
      <table className={classes.table}>
        <thead>
          <tr>
            {fields.map((field) => (
              <th key={field} scope="col">
                <Name of={field} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // The index is the key, because a table may have no primary key and the rows keep their order.
            <tr key={index}>
              {fields.map((field) => (
                <td key={field}>
                  <Value text={row[field] ?? null} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Shows a value in at most three lines. The rest is in the tooltip. */
function Value({ text }: { text: string | null }) {
  if (text === null) return <span className={classes.quiet}>{'null'}</span>;
  return (
    <bdi className={classes.value} title={text}>
      {text}
    </bdi>
  );
}
