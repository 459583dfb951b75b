/** For unknown addresses. */
import { Anchor, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** Also for unknown guides. */
export function NotFound() {
  return (
    <Stack align="center" justify="center" mih="60vh" p="xl" gap="xs">
      <Title order={1} size="h3">
        Page not found
      </Title>
      <Text c="dimmed">The address may be mistyped or belong to another release.</Text>
      <Anchor component={Link} to="/">
        Open the schema
      </Anchor>
    </Stack>
  );
}
