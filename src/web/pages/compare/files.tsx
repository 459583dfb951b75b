/** Downloads for both points in time and their difference. */
import downloadIcon from 'icon:download';
import { Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { request, withQuery } from '../../service/request.js';
import { Glyph } from '../../shared/glyph.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { saveText } from '../../shared/save.js';
import { SnapshotMenu } from '../../shared/snapshot/snapshot-menu.js';
import { SteadyButton } from '../../shared/steady-button.js';

/** @param props.from positions, times or `now`; `to` too */
export function Files({ from, to }: { from: string; to: string }) {
  const save = useMutation({
    mutationFn: async () => {
      const found = await request(withQuery('/history/diff', { from, to }));
      saveText(`diff-${from}-${to}.json`, 'application/json', JSON.stringify(found, null, 2));
    },
  });
  return (
    <Stack>
      <Group>
        <Text size="sm" w={220}>
          Difference
        </Text>
        <SteadyButton
          size="xs"
          variant="default"
          loading={save.isPending}
          leftSection={<Glyph path={downloadIcon} size={16} />}
          onClick={() => save.mutate()}
        >
          Difference as JSON
        </SteadyButton>
      </Group>
      {[from, to].map((at) => (
        <Group key={at}>
          <Text size="sm" w={220}>
            {at === 'now' ? 'Current schema' : `Schema at ${at}`}
          </Text>
          <SnapshotMenu at={at} />
        </Group>
      ))}
      {save.error && <ProblemAlert error={save.error} />}
    </Stack>
  );
}
