import verifiedIcon from 'icon:verified';
import { Button, FileInput, Group, Paper, Progress, Stack, Text, TextInput, Title, Alert, Code } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import brokenIcon from 'icon:error';
import heldIcon from 'icon:verified';
import { Link } from '@tanstack/react-router';
import { infoQuery } from '../../service/queries.js';
import { requestAnswer } from '../../service/request.js';
import { Glyph } from '../../shared/glyph.js';
import { Page, useTitle } from '../../shared/page.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { SteadyButton, CopyButton } from '../../shared/buttons.js';
import type { WorkerResponse, Result, WorkerRequest, CheckpointEvent } from './verification.worker.js';
import { messages } from './messages.js';
import { Time } from '../../shared/time.js';
import { isPosition } from '../../../kernel/text.js';

/**
 * Reads a checkpoint file for a comparison. `dps verify` checks its signature, with keys that were distributed
 * separately.
 */

interface CheckpointFile extends CheckpointEvent {
  file: string;
}

/** Null if the file is not a valid checkpoint. */
function readCheckpoint(file: string, text: string): CheckpointFile | null {
  const [origin = '', position = '', hash = ''] = text.split('\n');
  if (!text.includes('\n\n') || !isPosition(position)) return null;
  const hex = hexOf(hash);
  return hex === null || origin === '' ? null : { file, origin, position: Number(position), hash: hex };
}

function hexOf(base64: string): string | null {
  try {
    const bytes = Array.from(atob(base64), (letter) => letter.charCodeAt(0).toString(16).padStart(2, '0'));
    return bytes.length === 32 ? bytes.join('') : null;
  } catch {
    return null;
  }
}

/** Returns the difference between the log and a checkpoint. Null if they match. */
function differenceTo(checkpoint: CheckpointFile, { head, broken, places }: Result): string | null {
  const { position, hash, origin } = checkpoint;
  const texts = messages.checkpoint;
  if (position > head.position) return broken === null ? texts.ends(head.position) : texts.broken(broken.position);
  const there = places.find((place) => place.position === position);
  if (there?.hash !== hash) return texts.rewritten(position);
  return there.origin === origin ? null : texts.otherLog(origin);
}

interface Props {
  result: Result;
  checkpoints: readonly CheckpointFile[];
  seconds: number;
  /** The expected hash of the head; empty for none. */
  expected: string;
}

/**
 * Shows if the chain, the expected hash and each checkpoint match. If the chain is broken, the hash is not compared.
 */
function VerificationResult({ result, checkpoints, seconds, expected }: Props) {
  const { head, broken, disallowed, erased } = result;
  const texts = messages.result;
  return (
    <Stack mt="md" gap="md">
      {broken === null ? (
        <Verdict holds title={texts.valid(head.position, seconds)}>
          <Text size="sm">{texts.head(<Time at={head.occurred_at ?? new Date(0).toISOString()} />)}</Text>
          <Group gap={4} wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }}>{head.hash}</Code>
            <CopyButton text={head.hash} label={texts.copyHash} />
          </Group>
          {erased > 0 && (
            <Text size="sm" mt={4}>
              {texts.erased(erased)}
            </Text>
          )}
        </Verdict>
      ) : (
        <Verdict title={texts.broken(broken.position)}>
          <Text size="sm">
            {texts.aboutBroken(broken.position, broken.reason, Math.min(head.position, broken.position - 1))}{' '}
            <Link to="/" search={{ at: head.position }}>
              {texts.showSchema}
            </Link>
          </Text>
        </Verdict>
      )}
      {disallowed.length > 0 && (
        <Verdict title={texts.disallowed}>
          {disallowed.map(({ position, reason }) => (
            <Text size="sm" key={position}>
              {texts.disallowedEvent(position, reason)}
            </Text>
          ))}
        </Verdict>
      )}
      {expected !== '' && broken === null && (
        <Verdict holds={expected === head.hash} title={expected === head.hash ? texts.hashMatches : texts.hashDiffers}>
          {expected !== head.hash && <Text size="sm">{texts.aboutDifference}</Text>}
        </Verdict>
      )}
      {checkpoints.map((checkpoint) => {
        const difference = differenceTo(checkpoint, result);
        return (
          <Verdict
            key={checkpoint.file}
            holds={difference === null}
            title={
              difference === null
                ? messages.checkpoint.matches(checkpoint.file)
                : messages.checkpoint.differs(checkpoint.file)
            }
          >
            <Text size="sm">
              {difference ?? messages.checkpoint.unchanged(checkpoint.position)} {messages.checkpoint.signature}
            </Text>
          </Verdict>
        );
      })}
    </Stack>
  );
}

function Verdict({ holds = false, title, children }: { holds?: boolean; title: string; children?: ReactNode }) {
  return (
    <Alert
      color={holds ? 'teal' : 'red'}
      variant="light"
      icon={<Glyph path={holds ? heldIcon : brokenIcon} />}
      title={title}
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      {children}
    </Alert>
  );
}

interface CheckOptions {
  wanted: readonly number[];
  onProgress: (checked: number) => void;
  signal: AbortSignal;
}

/** @throws errors of the stream, and when it is aborted */
async function checkLog(
  bytes: ReadableStream<Uint8Array>,
  { wanted, onProgress, signal }: CheckOptions,
): Promise<Result> {
  const worker = new Worker(new URL('./verification.worker.ts', import.meta.url), { type: 'module' });
  const reader = bytes.getReader();
  const say = (message: WorkerRequest, transfer: Transferable[] = []) => worker.postMessage(message, transfer);
  try {
    return await new Promise<Result>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error(messages.errors.stopped)));
      worker.onerror = ({ message }) => reject(new Error(messages.errors.failed(message)));
      const give = async (): Promise<void> => {
        const { value } = await reader.read();
        say({ kind: 'chunk', bytes: value ?? null }, value === undefined ? [] : [value.buffer as ArrayBuffer]);
      };
      worker.onmessage = ({ data }: MessageEvent<WorkerResponse>) => {
        if (data.kind === 'more') give().catch(reject);
        else if (data.kind === 'progress') onProgress(data.checked);
        else if (data.kind === 'failed') reject(new Error(data.message));
        else resolve(data);
      };
      say({ kind: 'check', wanted: [...wanted] });
    });
  } finally {
    worker.terminate();
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Verifies the log after the user presses the button. Leaving the page cancels the verification. A broken chain is a
 * result and not an error.
 */
export function VerificationPage() {
  useTitle(messages.title);
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
      const { body } = await requestAnswer('exportLog', { signal: control.signal });
      if (body === null) throw new Error(messages.errors.noLog);
      const wanted = checkpoints.map(({ position }) => position);
      const result = await checkLog(body, { wanted, onProgress: setChecked, signal: control.signal });
      return { result, checkpoints, seconds: (performance.now() - began) / 1000 };
    },
  });
  const total = info?.position ?? 0;
  return (
    <Page>
      <Title order={1} size="h3">
        {messages.title}
      </Title>
      <Text c="dimmed" mt="xs">
        {messages.about}
      </Text>
      <Paper withBorder radius="lg" p="lg" mt="md">
        <Stack gap="md">
          <FileInput
            label={messages.files}
            description={messages.aboutFiles}
            placeholder={messages.none}
            multiple
            clearable
            clearButtonProps={{ 'aria-label': messages.clear }}
            value={files}
            onChange={setFiles}
          />
          <TextInput
            label={messages.expected}
            description={messages.aboutExpected}
            placeholder={messages.none}
            spellCheck={false}
            value={hash}
            onChange={(event) => setHash(event.currentTarget.value)}
          />
          <Group>
            <SteadyButton
              leftSection={<Glyph path={verifiedIcon} />}
              loading={check.isPending}
              onClick={() => check.mutate()}
            >
              {total === 0 ? messages.verify : messages.verifyEvents(total)}
            </SteadyButton>
            {check.isPending && (
              <Button variant="default" onClick={() => stopped.current?.abort()}>
                {messages.stop}
              </Button>
            )}
          </Group>
          {check.isPending && (
            <div>
              <Progress
                value={total === 0 ? 100 : (checked / total) * 100}
                animated
                aria-label={messages.progressLabel(checked, total)}
              />
              <Text size="sm" c="dimmed" mt={6}>
                {messages.progress(checked, total)}
              </Text>
            </div>
          )}
        </Stack>
      </Paper>
      <div aria-live="polite">
        {check.error !== null && <ProblemAlert error={check.error} />}
        {check.data && !check.isPending && <VerificationResult {...check.data} expected={hash.trim().toLowerCase()} />}
      </div>
    </Page>
  );
}

/** @throws Error naming the invalid file */
const readAll = (files: readonly File[]): Promise<CheckpointFile[]> =>
  Promise.all(
    files.map(async (file) => {
      const read = readCheckpoint(file.name, await file.text());
      if (read === null) throw new Error(messages.errors.noCheckpoint(file.name));
      return read;
    }),
  );
