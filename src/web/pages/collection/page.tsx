/** One collection: its fields, relations, SQL and history. */
import diagramIcon from 'icon:hub';
import folderIcon from 'icon:folder';
import tableIcon from 'icon:table';
import { Badge, Button, Group, Tabs, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { collectionQuery } from '../../service/queries.js';
import { useRole } from '../../service/use-session.js';
import type { CollectionDocument } from '../../service/types.js';
import { Glyph } from '../../shared/glyph.js';
import { MaterialIcon } from '../../shared/material-icon.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Waiting } from '../../shared/waiting.js';
import { colorOf } from '../schema/color.js';
import { FieldsTab } from './fields-tab.js';
import { HistoryTab } from './history-tab.js';
import { RelationsTab } from './relations-tab.js';
import { Size } from './size.js';
import { SqlTab } from './sql-tab.js';
import { TableTab } from './table-tab.js';
import type { Tab } from './search.js';
import classes from './page.module.css';

const route = getRouteApi('/collections/$name');

export function CollectionPage() {
  const { name } = route.useParams();
  useTitle(name);
  const { data: collection, error, refetch } = useQuery(collectionQuery(name));
  if (collection !== undefined) return <Whole key={name} collection={collection} />;
  if (error === null) return <Waiting label={`Reading ${name}`} />;
  return (
    <Page wide>
      <Title order={1} size="h3" mb="md">
        {name}
      </Title>
      <ProblemAlert error={error} retry={() => void refetch()} />
    </Page>
  );
}

function Whole({ collection: { collection, meta, schema } }: { collection: CollectionDocument }) {
  const { tab = 'fields', field } = route.useSearch();
  const navigate = route.useNavigate();
  const mayReadHistory = useRole() !== 'reader';
  const hasTable = mayReadHistory && schema !== null && meta.system !== true;
  const choose = (next: string | null) => void navigate({ search: { tab: next as Tab }, replace: true });
  const parts: { value: Tab; label: string; content: ReactNode }[] = [
    {
      value: 'fields',
      label: 'Fields',
      content: <FieldsTab collection={collection} chosen={field} mayReadHistory={mayReadHistory} />,
    },
    { value: 'relations', label: 'Relations', content: <RelationsTab collection={collection} /> },
    ...(hasTable ? [{ value: 'table', label: 'Table', content: <TableTab collection={collection} /> } as const] : []),
    ...(schema === null ? [] : [{ value: 'sql', label: 'SQL', content: <SqlTab sql={schema.sql} /> } as const]),
    ...(mayReadHistory
      ? [{ value: 'history', label: 'History', content: <HistoryTab collection={collection} /> } as const]
      : []),
  ];
  return (
    <Page wide>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <span className={classes.icon} style={{ color: colorOf(meta.color) }}>
          <MaterialIcon name={meta.icon} otherwise={schema === null ? folderIcon : tableIcon} size={26} />
        </span>
        <div className={classes.head}>
          <Title order={1} size="h3">
            <bdi>{collection}</bdi>
          </Title>
          <Facts meta={meta} isFolder={schema === null} />
          {hasTable && <Size collection={collection} />}
        </div>
        <Button
          component={Link}
          to="/"
          search={{ c: collection, near: 1 } as never}
          variant="default"
          size="xs"
          leftSection={<Glyph path={diagramIcon} size={18} />}
        >
          In the diagram
        </Button>
      </Group>
      {meta.note !== null && (
        <Text className={classes.note} role="note" tabIndex={0} aria-label="Note">
          {meta.note}
        </Text>
      )}
      <Tabs value={tab} onChange={choose} mt="md" keepMounted={false}>
        <Tabs.List>
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
    </Page>
  );
}

function Facts({ meta, isFolder }: { meta: CollectionDocument['meta']; isFolder: boolean }) {
  const facts = [
    isFolder && 'folder',
    meta.system === true && 'of the service itself',
    meta.singleton && 'one item',
    meta.hidden && 'hidden',
    meta.versioning && 'versioning',
    meta.group !== null && `in ${meta.group}`,
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
