import brokenIcon from 'icon:error';
import heldIcon from 'icon:verified';
import { Alert, Code, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyButton } from '../../shared/copy-button.js';
import { Glyph } from '../../shared/glyph.js';
import { Time } from '../../shared/time.js';
import { type CheckpointFile, differenceTo } from './checkpoint.js';
import type { Result } from './messages.js';

interface Props {
  result: Result;
  checkpoints: readonly CheckpointFile[];
  seconds: number;
  /** The expected hash of the head; empty for none. */
  expected: string;
}

/** Reports whether the chain, the expected hash and each checkpoint match. A broken chain skips the hash. */
export function SealResult({ result, checkpoints, seconds, expected }: Props) {
  const { head, broken } = result;
  return (
    <Stack mt="md" gap="md">
      {broken === null ? (
        <Verdict holds title={`The chain holds: ${head.position.toLocaleString()} events in ${seconds.toFixed(1)} s`}>
          <Text size="sm">
            The last one, <Time at={head.occurred_at ?? new Date(0).toISOString()} />, has this hash. Keep it, or take a
            checkpoint, where the operator of the service has no hand in it:
          </Text>
          <Group gap={4} wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }}>{head.hash}</Code>
            <CopyButton text={head.hash} label="Copy the hash" />
          </Group>
        </Verdict>
      ) : (
        <Verdict title={`The chain is broken at event ${broken.position.toLocaleString()}`}>
          <Text size="sm">
            Event {broken.position}: {broken.reason}. Everything up to event {head.position.toLocaleString()} is as it
            was written.{' '}
            <Link to="/" search={{ at: head.position }}>
              See the schema as it was up to there
            </Link>
          </Text>
        </Verdict>
      )}
      {expected !== '' && broken === null && (
        <Verdict
          holds={expected === head.hash}
          title={
            expected === head.hash
              ? 'The head has the hash that you have kept'
              : 'The head has another hash than you have kept'
          }
        >
          {expected !== head.hash && (
            <Text size="sm">The log has grown since, or it was rewritten: a checkpoint of that position can tell.</Text>
          )}
        </Verdict>
      )}
      {checkpoints.map((checkpoint) => {
        const difference = differenceTo(checkpoint, result);
        return (
          <Verdict
            key={checkpoint.file}
            holds={difference === null}
            title={`${checkpoint.file}: ${difference === null ? 'holds' : 'differs'}`}
          >
            <Text size="sm">
              {difference === null
                ? `Every event up to position ${checkpoint.position.toLocaleString()} is as it was when it was signed.`
                : `${difference}.`}{' '}
              Its signature is verified by dps verify, with keys that you have kept.
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
