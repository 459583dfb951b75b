import sealIcon from 'icon:verified';
import { Button, FileInput, Group, Paper, Progress, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { infoQuery } from '../../service/queries.js';
import { requestAnswer } from '../../service/request.js';
import { Glyph } from '../../shared/glyph.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { checkLog } from './check-log.js';
import { type CheckpointFile, readCheckpoint } from './checkpoint.js';
import { SealResult } from './seal-result.js';
import { SteadyButton } from '../../shared/steady-button.js';

/**
 * Reads nothing before its button is pressed; leaving the page cancels it. A broken chain is a result and not an
 * error.
 */
export function SealPage() {
  useTitle('Verification');
  const { data: info } = useQuery(infoQuery());
  const [files, setFiles] = useState<File[]>([]);
  const [hash, setHash] = useState('');
  const [checked, setChecked] = useState(0);
  const stopped = useRef<AbortController>(null);
  useEffect(() => () => stopped.current?.abort(), []);
  const check = useMutation({
    mutationFn: async () => {
      const control = new AbortController();
      stopped.current = control;
      setChecked(0);
      const checkpoints = await readAll(files);
      const began = performance.now();
      const { body } = await requestAnswer('/history/export', { signal: control.signal });
      if (body === null) throw new Error('The service sent no event log.');
      const wanted = checkpoints.map(({ position }) => position);
      const result = await checkLog(body, { wanted, onProgress: setChecked, signal: control.signal });
      return { result, checkpoints, seconds: (performance.now() - began) / 1000 };
    },
  });
  const total = info?.position ?? 0;
  return (
    <Page>
      <Title order={1} size="h3">
        Verification{' '}
      </Title>
      <Text c="dimmed" mt="xs">
        Every event contains the hash of the previous event. This page reads the whole event log and recomputes the hash
        chain in your browser, without trusting the service. A log that was rewritten completely also has a valid chain.
        Compare it with a hash or checkpoint that you stored elsewhere.
      </Text>
      <Paper withBorder radius="lg" p="lg" mt="md">
        <Stack gap="md">
          <FileInput
            label="Checkpoint files"
            description="Optional. Files that end in .checkpoint."
            placeholder="None"
            multiple
            clearable
            clearButtonProps={{ 'aria-label': 'Clear' }}
            value={files}
            onChange={setFiles}
          />
          <TextInput
            label="Expected hash of the last event"
            description="Optional. 64 hexadecimal digits."
            placeholder="None"
            spellCheck={false}
            value={hash}
            onChange={(event) => setHash(event.currentTarget.value)}
          />
          <Group>
            <SteadyButton
              leftSection={<Glyph path={sealIcon} />}
              loading={check.isPending}
              onClick={() => check.mutate()}
            >
              Verify {total === 0 ? 'the event log' : `${total.toLocaleString()} events`}
            </SteadyButton>
            {check.isPending && (
              <Button variant="default" onClick={() => stopped.current?.abort()}>
                Stop
              </Button>
            )}
          </Group>
          {check.isPending && (
            <div>
              <Progress
                value={total === 0 ? 100 : (checked / total) * 100}
                animated
                aria-label={`${checked.toLocaleString()} of ${total.toLocaleString()} events verified`}
              />
              <Text size="sm" c="dimmed" mt={6}>
                {checked.toLocaleString()} of {total.toLocaleString()}
              </Text>
            </div>
          )}
        </Stack>
      </Paper>
      <div aria-live="polite">
        {check.error !== null && <ProblemAlert error={check.error} />}
        {check.data && !check.isPending && <SealResult {...check.data} expected={hash.trim().toLowerCase()} />}
      </div>
    </Page>
  );
}

/** @throws Error naming the invalid file */
const readAll = (files: readonly File[]): Promise<CheckpointFile[]> =>
  Promise.all(
    files.map(async (file) => {
      const read = readCheckpoint(file.name, await file.text());
      if (read === null) throw new Error(`${file.name} is not a checkpoint.`);
      return read;
    }),
  );
