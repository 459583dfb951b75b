import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate, Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { useDraft, useDraftedCollections, editSchema } from '../../draft/store.js';
import { collectionsQuery } from '../../service/queries.js';
import { useTitle } from '../../shared/page.js';
import { ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import classes from './page.module.css';
import type { Collection } from '../../../schema/model/model.js';
import { type MarkedDocument, listedOf } from '../../draft/marked-documents.js';
import { useMay } from '../../service/session.js';
import { SchemaPanels } from './schema-view.js';
import type { DropTarget } from '../../shared/drag-and-drop.js';
import { draftMarks } from './graph/use-graph.js';
import { messages } from './messages.js';
import { moveCollection } from './tree-model.js';
import adoptIcon from 'icon:database';
import bringIcon from 'icon:upload_file';
import makeIcon from 'icon:add_box';
import { Button, Code, Container, Group, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import { Glyph } from '../../shared/glyph.js';
import { CopyButton } from '../../shared/buttons.js';
import welcomeClasses from './welcome.module.css';

/* Shows the current schema with the draft applied. */

/** Only users who may propose can move objects. */
function Present({ drafted }: { drafted: readonly MarkedDocument<Collection>[] }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const mayEdit = useMay('propose');
  const { draft } = useDraft();
  const marks = useMemo(() => draftMarks(draft), [draft]);
  const listed = useMemo(() => drafted.map(({ document }) => listedOf(document)), [drafted]);
  const onOpen = (name: string) => void navigate({ to: '/collections/$name', params: { name } });
  const tree = {
    collections: listed,
    onOpen,
    marks,
    onMove: mayEdit
      ? (name: string, target: DropTarget) => void editSchema(client, [], moveCollection(listed, name, target))
      : undefined,
  };
  return <SchemaPanels collections={listed} tree={tree} />;
}

const Past = lazy(() => import('./past-schema.js'));
const route = getRouteApi('/');

/**
 * Shows a welcome if there are no collections and no draft. The past is available even if the current schema cannot be
 * read.
 */
export function SchemaPage() {
  const { data: collections, error, refetch } = useQuery(collectionsQuery());
  const { c, at } = route.useSearch();
  const isPast = at !== undefined;
  useTitle(c === undefined ? messages.page.title : messages.page.titleWith(c));
  if (isPast && (collections !== undefined || error !== null)) {
    return (
      <Suspense fallback={<LoadingIndicator label={messages.page.loadingHistory} />}>
        <Past at={at} tables={collections?.length ?? Infinity} />
      </Suspense>
    );
  }
  if (collections !== undefined) return <Now />;
  if (error === null) return <LoadingIndicator label={messages.page.loading} />;
  return (
    <div className={classes.message}>
      <ProblemAlert error={error} retry={() => void refetch()} />
    </div>
  );
}

function Now() {
  const { data: drafted = [] } = useDraftedCollections();
  return drafted.length === 0 ? <Greeting /> : <Present drafted={drafted} />;
}

interface StartOption {
  icon: string;
  title: string;
  text: string;
  /** The page of the app that does this. */
  here?: { label: string; to: '/review' | '/operations/adopt' | '/new'; search?: { bring: true } };
  command: (origin: string) => string;
}

const WAYS: readonly StartOption[] = [
  {
    icon: makeIcon,
    title: messages.welcome.create,
    text: messages.welcome.createText,
    here: { label: messages.welcome.newCollection, to: '/new' },
    command: (origin: string) =>
      `curl ${origin}/collections -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d '{"collection": "articles", "schema": {}, "fields": [{"field": "title", "type": "string", "interface": "input"}]}'`,
  },
  {
    icon: bringIcon,
    title: messages.welcome.importSnapshot,
    text: messages.welcome.importText,
    here: { label: messages.welcome.chooseFile, to: '/review', search: { bring: true } },
    command: (origin: string) => `npx dps apply snapshot.yaml --force --url ${origin} --token "$TOKEN"`,
  },
  {
    icon: adoptIcon,
    title: messages.welcome.adopt,
    text: messages.welcome.adoptText,
    here: { label: messages.welcome.chooseTables, to: '/operations/adopt' },
    command: () => 'npx dps adopt --all',
  },
];

/** Admins see how to begin, authors what they can propose, and all others that an admin must begin. */
function Greeting() {
  const isAdmin = useMay('administer');
  const mayPropose = useMay('propose');
  return (
    <Container size="lg" py={56} px="lg">
      <Title order={1} size="h2" ta="center">
        {messages.welcome.title}
      </Title>
      <Text c="dimmed" ta="center" mt="xs" mb={36}>
        {isAdmin ? messages.welcome.admin : messages.welcome.others}
      </Text>
      {!isAdmin && mayPropose && (
        <Group justify="center" gap="sm">
          <Button component={Link} to="/new">
            {messages.welcome.propose}
          </Button>
          <Button variant="default" renderRoot={(props) => <Link {...props} to="/review" search={{ bring: true }} />}>
            {messages.welcome.importSnapshot}
          </Button>
        </Group>
      )}
      {isAdmin && (
        <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
          {WAYS.map(({ icon, title, text, here, command }) => (
            <Paper key={title} p="lg" radius="lg" className={welcomeClasses.way}>
              <span className={welcomeClasses.icon}>
                <Glyph path={icon} size={26} />
              </span>
              <Title order={2} size="h4">
                {title}
              </Title>
              <Text size="sm" c="dimmed">
                {text}
              </Text>
              {here !== undefined && (
                <Button renderRoot={(props) => <Link {...props} to={here.to} search={here.search ?? {}} />}>
                  {here.label}
                </Button>
              )}
              <div className={welcomeClasses.command}>
                <Code block className={welcomeClasses.code} tabIndex={0} aria-label={messages.welcome.command(title)}>
                  {command(location.origin)}
                </Code>
                <CopyButton text={command(location.origin)} />
              </div>
            </Paper>
          ))}
        </SimpleGrid>
      )}
    </Container>
  );
}
