/** The form for trying an operation, and its response. */
import { Badge, Group, Stack, Text, TextInput, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { OutlinedOperation, OutlinedParameter } from '../../../http/openapi/outline.js';
import { CopyButton } from '../../shared/copy-button.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { type Tried, type Typed, curlOf, tryOut } from './try-request.js';
import { SteadyButton } from '../../shared/steady-button.js';
import classes from './page.module.css';

const JSON_TYPE = 'application/json';

/** Requests are sent for real with the user's session. JSON bodies can be edited. */
export function TryOut({ operation }: { operation: OutlinedOperation }) {
  const { method, parameters } = operation;
  const [typed, setTyped] = useState<Typed>({});
  const [sent, setBody] = useState(() => exampleOf(operation));
  const trying = useMutation({ mutationFn: () => tryOut(operation, typed, sent) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    trying.mutate();
  };
  return (
    <form onSubmit={submit} className={classes.try} aria-label="Try it">
      <Stack gap="sm">
        <Text fw={600} size="sm">
          Try it
        </Text>
        <div className={classes.boxes}>
          {parameters.map((parameter) => (
            <Box
              key={keyOf(parameter)}
              parameter={parameter}
              value={typed[keyOf(parameter)] ?? ''}
              onChange={(value) => setTyped({ ...typed, [keyOf(parameter)]: value })}
            />
          ))}
        </div>
        {sent !== undefined && (
          <Textarea
            label="Body"
            autosize
            minRows={3}
            maxRows={16}
            spellCheck={false}
            classNames={{ input: classes.code ?? '' }}
            value={sent}
            onChange={(event) => setBody(event.currentTarget.value)}
          />
        )}
        <Group justify="space-between">
          <SteadyButton type="submit" loading={trying.isPending} color={method === 'GET' ? 'iris' : '#b3390a'}>
            {method === 'GET' ? 'Send' : 'Send (changes data)'}
          </SteadyButton>
          <CopyButton text={curlOf(operation, typed, sent)} label="Copy as curl" />
        </Group>
        {trying.error !== null && <ProblemAlert error={trying.error} />}
        {trying.data && <Result of={trying.data} />}
      </Stack>
    </form>
  );
}

/** The initial body; undefined unless JSON is accepted. */
function exampleOf({ body }: OutlinedOperation): string | undefined {
  if (!body?.media.includes(JSON_TYPE)) return undefined;
  return body.example === undefined ? '' : JSON.stringify(body.example, null, 2);
}

const keyOf = ({ in: place, name }: OutlinedParameter): string => `${place} ${name}`;

interface BoxProps {
  parameter: OutlinedParameter;
  value: string;
  onChange: (value: string) => void;
}

function Box({ parameter: { in: place, name }, value, onChange }: BoxProps) {
  return (
    <TextInput
      size="xs"
      label={place === 'path' ? name : `${name} (${place})`}
      required={place === 'path'}
      withAsterisk={false}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function Result({ of: { status, headers, body, milliseconds } }: { of: Tried }) {
  return (
    <div role="status">
      <Group gap="xs" mb={6}>
        <Badge color={status < 400 ? 'teal.9' : 'red.8'} variant="filled">
          {status}
        </Badge>
        <Text size="xs" c="dimmed">
          {Math.round(milliseconds)} ms
        </Text>
        {headers.map(([name, value]) => (
          <Text key={name} size="xs" c="dimmed">
            {name}: {value}
          </Text>
        ))}
      </Group>
      {body !== '' && (
        <pre className={classes.result} tabIndex={0} aria-label="Response">
          {body}
        </pre>
      )}
    </div>
  );
}
