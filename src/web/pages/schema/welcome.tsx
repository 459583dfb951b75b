import adoptIcon from 'icon:database';
import bringIcon from 'icon:upload_file';
import makeIcon from 'icon:add_box';
import { Button, Code, Container, Group, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../service/session.js';
import { Glyph } from '../../shared/glyph.js';
import { CopyButton } from '../../shared/buttons.js';
import classes from './welcome.module.css';

interface StartOption {
  icon: string;
  title: string;
  text: string;
  /** The page where it is done in the app. */
  here?: { label: string; to: '/review' | '/operations/adopt' | '/new'; search?: { bring: true } };
  command: (origin: string) => string;
}

const WAYS: readonly StartOption[] = [
  {
    icon: makeIcon,
    title: 'Create a collection',
    text: 'A collection is a table, and its fields are columns. Create one here or through the API:',
    here: { label: 'New collection', to: '/new' },
    command: (origin: string) =>
      `curl ${origin}/collections -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d '{"collection": "articles", "schema": {}, "fields": [{"field": "title", "type": "string", "interface": "input"}]}'`,
  },
  {
    icon: bringIcon,
    title: 'Import a snapshot',
    text: 'The schema of another instance of this service or of Directus, as JSON or YAML. You review it first.',
    here: { label: 'Choose file', to: '/review', search: { bring: true } },
    command: (origin: string) => `npx dps apply snapshot.yaml --force --url ${origin} --token "$TOKEN"`,
  },
  {
    icon: adoptIcon,
    title: 'Adopt a database',
    text: 'Manage existing tables without changing them.',
    here: { label: 'Choose tables', to: '/operations/adopt' },
    command: () => 'npx dps adopt --all',
  },
];

/** Admins see how to begin, authors what they can propose, others that an admin must begin. */
export function Greeting() {
  const isAdmin = useMay('administer');
  const mayPropose = useMay('propose');
  return (
    <Container size="lg" py={56} px="lg">
      <Title order={1} size="h2" ta="center">
        No collections yet
      </Title>
      <Text c="dimmed" ta="center" mt="xs" mb={36}>
        {isAdmin
          ? 'There are three ways to start. This page updates automatically.'
          : 'An admin must create the first collection or apply a change request.'}
      </Text>
      {!isAdmin && mayPropose && (
        <Group justify="center" gap="sm">
          <Button component={Link} to="/new">
            Propose a collection
          </Button>
          <Button variant="default" renderRoot={(props) => <Link {...props} to="/review" search={{ bring: true }} />}>
            Import a snapshot
          </Button>
        </Group>
      )}
      {isAdmin && (
        <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
          {WAYS.map(({ icon, title, text, here, command }) => (
            <Paper key={title} p="lg" radius="lg" className={classes.way}>
              <span className={classes.icon}>
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
              <div className={classes.command}>
                <Code block className={classes.code} tabIndex={0} aria-label={`Command: ${title}`}>
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
