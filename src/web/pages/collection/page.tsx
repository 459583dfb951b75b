/** One collection: its fields, relations, SQL and history. */
import diagramIcon from 'icon:hub';
import folderIcon from 'icon:folder';
import tableIcon from 'icon:table';
import { Badge, Button, Group, Tabs, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
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
import { SqlTab } from './sql-tab.js';
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
  const choose = (next: string | null) => void navigate({ search: { tab: next as Tab }, replace: true });
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
      {meta.note !== null && <Text className={classes.note}>{meta.note}</Text>}
      <Tabs value={tab} onChange={choose} mt="md" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="fields">Fields</Tabs.Tab>
          <Tabs.Tab value="relations">Relations</Tabs.Tab>
          {schema !== null && <Tabs.Tab value="sql">SQL</Tabs.Tab>}
          {mayReadHistory && <Tabs.Tab value="history">History</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="fields" pt="md">
          <FieldsTab collection={collection} chosen={field} mayReadHistory={mayReadHistory} />
        </Tabs.Panel>
        <Tabs.Panel value="relations" pt="md">
          <RelationsTab collection={collection} />
        </Tabs.Panel>
        <Tabs.Panel value="sql" pt="md">
          {schema !== null && <SqlTab sql={schema.sql} collection={collection} />}
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="md">
          {mayReadHistory && <HistoryTab collection={collection} />}
        </Tabs.Panel>
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
