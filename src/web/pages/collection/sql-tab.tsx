/** The table as SQL, and what belongs to it beyond its columns. */
import { Code, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { extrasQuery } from '../../service/queries.js';
import { useRole } from '../../service/use-session.js';
import { CopyButton } from '../../shared/copy-button.js';
import classes from './page.module.css';

export function SqlTab({ sql, collection }: { sql: string; collection: string }) {
  return (
    <Stack gap="xl">
      <div className={classes.copied}>
        <pre className={classes.sql} tabIndex={0} aria-label="CREATE TABLE">
          {sql}
        </pre>
        <CopyButton text={sql} label="Copy the statement" />
      </div>
      {useRole() === 'admin' && <Extras collection={collection} />}
    </Stack>
  );
}

/** Only the snapshot has them, which is for admins. */
function Extras({ collection }: { collection: string }) {
  const { data: extras } = useQuery(extrasQuery(collection));
  const parts = [
    { title: 'Indexes', items: extras?.indexes ?? [] },
    { title: 'Constraints', items: extras?.constraints ?? [] },
  ].filter(({ items }) => items.length > 0);
  return parts.map(({ title, items }) => (
    <section key={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      <Stack gap="xs">
        {items.map(({ name, definition }) => (
          <div key={name}>
            <Text size="sm" fw={550}>
              {name}
            </Text>
            <Code>{definition}</Code>
          </div>
        ))}
      </Stack>
    </section>
  ));
}
