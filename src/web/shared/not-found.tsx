/** For unknown addresses. */
import { Anchor, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** Also for unknown guides. */
export function NotFound() {
  return (
    <Stack align="center" justify="center" mih="60vh" p="xl" gap="xs">
      <Title order={1} size="h3">
        There is no such page
      </Title>
      <Text c="dimmed">The address may be of another release, or mistyped.</Text>
      <Anchor component={Link} to="/">
        Go to the schema
      </Anchor>
    </Stack>
  );
}
