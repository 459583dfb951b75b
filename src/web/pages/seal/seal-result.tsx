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
        <Verdict
          holds
          title={`The hash chain is valid: ${head.position.toLocaleString()} events in ${seconds.toFixed(1)} s`}
        >
          <Text size="sm">
            Hash of the last event, <Time at={head.occurred_at ?? new Date(0).toISOString()} />. Store it, or a
            checkpoint, where the operator of the service cannot change it:
          </Text>
          <Group gap={4} wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }}>{head.hash}</Code>
            <CopyButton text={head.hash} label="Copy hash" />
          </Group>
        </Verdict>
      ) : (
        <Verdict title={`The hash chain is broken at event ${broken.position.toLocaleString()}`}>
          <Text size="sm">
            Event {broken.position}: {broken.reason}. Events up to {head.position.toLocaleString()} are valid.{' '}
            <Link to="/" search={{ at: head.position }}>
              Show the schema at that event
            </Link>
          </Text>
        </Verdict>
      )}
      {expected !== '' && broken === null && (
        <Verdict
          holds={expected === head.hash}
          title={expected === head.hash ? 'The hash of the last event matches' : 'The hash of the last event differs'}
        >
          {expected !== head.hash && (
            <Text size="sm">
              Either new events were added or the event log was rewritten. A checkpoint of that position shows which.
            </Text>
          )}
        </Verdict>
      )}
      {checkpoints.map((checkpoint) => {
        const difference = differenceTo(checkpoint, result);
        return (
          <Verdict
            key={checkpoint.file}
            holds={difference === null}
            title={`${checkpoint.file}: ${difference === null ? 'matches' : 'differs'}`}
          >
            <Text size="sm">
              {difference === null
                ? `The events up to position ${checkpoint.position.toLocaleString()} have not changed since the checkpoint was signed.`
                : `${difference}.`}{' '}
              Run dps verify with your stored keys to verify the signature.
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
