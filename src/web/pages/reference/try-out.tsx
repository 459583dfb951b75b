/** The form for trying an operation, and its response. */
import { Badge, Group, Stack, Text, TextInput, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { OutlinedOperation, OutlinedParameter } from '../../../http/openapi/outline.js';
import { CopyButton, SteadyButton } from '../../shared/buttons.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import classes from './page.module.css';
import { RefusedError } from '../../service/send.js';
import { shellQuoted } from '../../../kernel/shell.js';
import { requestAnswer } from '../../service/request.js';

/* A request to try: sent with the session, or shown as a command. */

interface Tried {
  status: number;
  headers: [name: string, value: string][];
  body: string;
  milliseconds: number;
}

/** Input by location and name of a parameter: `query limit`. */
type Typed = Readonly<Record<string, string>>;

/** Maximum shown characters, because streams never end. */
const MOST = 100_000;
const LONGEST_MS = 4_000;

const SHOWN = ['content-type', 'etag', 'x-log-position', 'x-batch-id', 'x-request-id', 'location', 'retry-after'];

/** Fills in the encoded input. Empty values are omitted from the query and stay empty in the path. */
function pathOf({ path, parameters }: OutlinedOperation, typed: Typed): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(typed[`path ${name}`] ?? ''),
  );
  const query = parameters
    .filter(({ in: place, name }) => place === 'query' && (typed[`query ${name}`] ?? '') !== '')
    .map(({ name }) => `${encodeURIComponent(name)}=${encodeURIComponent(typed[`query ${name}`] ?? '')}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

const headersOf = ({ parameters }: OutlinedOperation, typed: Typed): Record<string, string> =>
  Object.fromEntries(
    parameters
      .filter(({ in: place, name }) => place === 'header' && (typed[`header ${name}`] ?? '') !== '')
      .map(({ name }) => [name, typed[`header ${name}`] ?? '']),
  );

/**
 * @param body JSON text; undefined for none
 * @throws SyntaxError if it is invalid
 */
async function tryOut(operation: OutlinedOperation, typed: Typed, body: string | undefined): Promise<Tried> {
  const started = performance.now();
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), LONGEST_MS);
  try {
    const answer = await requestAnswer(pathOf(operation, typed), {
      method: operation.method as 'GET',
      headers: headersOf(operation, typed),
      ...(body !== undefined && body.trim() !== '' && { json: JSON.parse(body) as unknown }),
      signal: ended.signal,
    });
    const text = await readSome(answer);
    const headers = SHOWN.flatMap((name): [string, string][] => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return { status: answer.status, headers, body: indented(text), milliseconds: performance.now() - started };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const headers: [string, string][] = error.requestId === null ? [] : [['x-request-id', error.requestId]];
    const shown = JSON.stringify({ errors: error.problems }, null, 2);
    return { status: error.status, headers, body: shown, milliseconds: performance.now() - started };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads until the limit or a timeout. */
async function readSome(answer: Response): Promise<string> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader !== undefined && text.length < MOST) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true as const }));
    if (done) return text;
    text += value;
  }
  await reader?.cancel();
  return `${text.slice(0, MOST)}\n…`;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The same as a shell command. The token is left to the reader. */
function curlOf(operation: OutlinedOperation, typed: Typed, body: string | undefined): string {
  const parts = [
    `curl ${shellQuoted(location.origin + pathOf(operation, typed))}`,
    '-H "Authorization: Bearer $TOKEN"',
  ];
  if (operation.method !== 'GET') parts.splice(1, 0, `-X ${operation.method}`);
  for (const [name, value] of Object.entries(headersOf(operation, typed)))
    parts.push(`-H ${shellQuoted(`${name}: ${value}`)}`);
  if (body !== undefined && body.trim() !== '') {
    parts.push('-H "Content-Type: application/json"', `-d ${shellQuoted(body)}`);
  }
  return parts.join(' \\\n  ');
}

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
