import searchIcon from 'icon:search';
import { Anchor, Text, TextInput, Title, Stack, UnstyledButton, Badge, Group, Textarea } from '@mantine/core';
import { useQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState, useEffect, useId, useRef, type FormEvent } from 'react';
import openIcon from 'icon:expand_more';
import {
  type Block,
  errorTable,
  headerTable,
  type Inline,
  operationBlocks,
  type Outline,
  type OutlinedOperation,
  outlineOf,
  shapeBlocks,
  type Table,
  type OutlinedParameter,
} from '../../../http/openapi/outline.js';
import type { OpenApiDocument } from '../../../http/openapi/document.js';
import type { OperationName } from '../../../client/index.js';
import { pathOf } from '../../../client/request.js';
import { answerTo, request } from '../../service/request.js';
import { QueryResult, ProblemAlert } from '../../shared/problem-alert.js';
import { Glyph } from '../../shared/glyph.js';
import { Page, ReferenceTabs, useTitle } from '../../shared/page.js';
import { language } from '../../shared/language.js';
import { messages } from './messages.js';
import classes from './page.module.css';
import { CopyButton, SteadyButton } from '../../shared/buttons.js';
import { ServiceError } from '../../service/send.js';
import { quoteForShell } from '../../../kernel/text.js';

function Shape({ shape }: { shape: Outline['shapes'][number] }) {
  return (
    <details className={classes.shape} id={`shape-${shape.name}`} lang="en">
      <summary>{shape.name}</summary>
      <Blocks of={shapeBlocks(shape)} about={shape.name} />
    </details>
  );
}

/** @param props.about a label for screen readers */
function Blocks({ of, about }: { of: readonly Block[]; about: string }) {
  return of.map((block, index) => {
    if (block.kind === 'table')
      return <BlockTable key={block.title} table={block} label={messages.tableOf(block.title, about)} />;
    // The form to try an operation starts with the example.
    if (block.kind === 'example') return null;
    return (
      <Text key={index} size="sm">
        {block.content.map((each, at) => (
          <InlineText key={at} inline={each} />
        ))}
      </Text>
    );
  });
}

function InlineText({ inline }: { inline: Inline }) {
  if ('code' in inline) return <code>{inline.code}</code>;
  if ('type' in inline) return inline.type.replaceAll(/<(\w+)>/g, '$1');
  return inline.prose
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 0 ? part : <code key={`${index} ${part}`}>{part}</code>));
}

/** @param props.label a label for screen readers */
function BlockTable({ table: { head, rows }, label }: { table: Table; label: string }) {
  return (
    <div className={classes.scroller} role="region" aria-label={label} tabIndex={0}>
      <table className={classes.members}>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first, ...others], index) => (
            <tr key={index}>
              <th scope="row">{first && <InlineText inline={first} />}</th>
              {others.map((cell, at) => (
                <td key={head[at + 1]}>
                  <InlineText inline={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Props {
  operation: OutlinedOperation;
  isOpen: boolean;
  onToggle: () => void;
}

/** Shows an operation. Its details are rendered when it is opened. If it is open initially, the page scrolls to it. */
function Operation({ operation, isOpen, onToggle }: Props) {
  const { method, path, summary } = operation;
  const details = useId();
  const place = useRef<HTMLLIElement>(null);
  // The page scrolls only to an operation that the address names.
  const isLinked = useRef(isOpen);
  useEffect(() => {
    if (isLinked.current) place.current?.scrollIntoView();
  }, []);
  return (
    <li ref={place} className={classes.operation}>
      <UnstyledButton className={classes.line} aria-expanded={isOpen} aria-controls={details} onClick={onToggle}>
        <span className={classes.method} data-method={method}>
          {method}
        </span>
        <code className={classes.path}>{path}</code>
        <span className={classes.summary}>{summary}</span>
        <span className={classes.chevron} data-open={isOpen}>
          <Glyph path={openIcon} />
        </span>
      </UnstyledButton>
      <div id={details}>{isOpen && <Details operation={operation} />}</div>
    </li>
  );
}

function Details({ operation }: { operation: OutlinedOperation }) {
  return (
    <Stack gap="md" className={classes.details}>
      <Blocks of={operationBlocks(operation)} about={operation.id} />
      <TryOut operation={operation} />
    </Stack>
  );
}

const route = getRouteApi('/api');

/** Shows the service's OpenAPI document, which is read once. While a filter is set, schemas are hidden. */
export function ReferencePage() {
  useTitle(messages.title);
  const outline = useQuery({
    queryKey: ['outline'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => outlineOf((await request('getOpenApi', { signal })) as unknown as OpenApiDocument),
  });
  return (
    <Page wide>
      <Title order={1} size="h3" mb="sm">
        {messages.title}
      </Title>
      <ReferenceTabs />
      <Text c="dimmed" size="sm" mt={4}>
        {messages.intro(
          (label) => (
            <Anchor href="/docs" size="sm" underline="always">
              {label}
            </Anchor>
          ),
          <code>{'/server/openapi.json'}</code>,
        )}
      </Text>
      <QueryResult query={outline} label={messages.loading}>
        {(loaded) => <Operations outline={loaded} />}
      </QueryResult>
    </Page>
  );
}

function Operations({ outline }: { outline: Outline }) {
  const { tags, shapes } = outline;
  const { op } = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState('');
  const needle = text.trim().toLowerCase();
  const fits = ({ method, path, summary }: OutlinedOperation) =>
    `${method} ${path} ${summary}`.toLowerCase().includes(needle);
  const toggle = (id: string) => void navigate({ search: id === op ? {} : { op: id }, replace: true });
  const shown = tags.map((tag) => ({ ...tag, operations: tag.operations.filter(fits) }));
  return (
    <>
      <TextInput
        mt="md"
        aria-label={messages.filter}
        placeholder={messages.filterHelp}
        leftSection={<Glyph path={searchIcon} size={18} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {shown
        .filter(({ operations }) => operations.length > 0)
        .map(({ name, description, operations }) => (
          <section key={name} aria-labelledby={`tag-${name}`} lang="en">
            <Title order={2} size="h5" mt="xl" id={`tag-${name}`}>
              {name}
            </Title>
            <Text size="sm" c="dimmed" mb="xs">
              {description}
            </Text>
            <ul className={classes.operations}>
              {operations.map((each) => (
                <Operation key={each.id} operation={each} isOpen={each.id === op} onToggle={() => toggle(each.id)} />
              ))}
            </ul>
          </section>
        ))}
      {needle === '' && (
        <>
          {[headerTable(outline), errorTable(outline)].map((table) => (
            <section key={table.title} lang="en">
              <Title order={2} size="h5" mt="xl" mb="xs">
                {table.title}
              </Title>
              <BlockTable table={table} label={table.title} />
            </section>
          ))}
          <section aria-labelledby="shapes">
            <Title order={2} size="h5" mt="xl" mb="xs" id="shapes">
              {messages.schemas}
            </Title>
            {shapes.map((shape) => (
              <Shape key={shape.name} shape={shape} />
            ))}
          </section>
        </>
      )}
    </>
  );
}

/* The form to try an operation, with its response. */

/* Create a request that is sent with the session or shown as a command. */

interface ReceivedResponse {
  status: number;
  headers: [name: string, value: string][];
  body: string;
  milliseconds: number;
}

/** The inputs by location and name of the parameter: `query limit`. */
type ParameterInputs = Readonly<Record<string, string>>;

/** Maximum number of characters that are shown, because streams never end. */
const MOST = 100_000;
const LONGEST_MS = 4_000;

const SHOWN = ['content-type', 'etag', 'x-log-position', 'x-batch-id', 'x-request-id', 'location', 'retry-after'];

/** Returns the inputs of a location by name. Empty ones are omitted, and remain placeholders in the path: `{id}`. */
const inputsOf = (
  { parameters }: OutlinedOperation,
  typed: ParameterInputs,
  location: string,
): Record<string, string> =>
  Object.fromEntries(
    parameters
      .filter(({ in: place }) => place === location)
      .map(({ name }) => [name, typed[`${location} ${name}`] || (location === 'path' ? `{${name}}` : '')])
      .filter(([, value]) => value !== ''),
  );

const contentOf = (operation: OutlinedOperation, typed: ParameterInputs) => ({
  params: inputsOf(operation, typed, 'path'),
  query: inputsOf(operation, typed, 'query'),
  headers: inputsOf(operation, typed, 'header'),
});

/**
 * Sends the request.
 * @param body JSON text. Undefined for no body
 * @throws SyntaxError if the body is invalid
 */
async function sendOperation(
  operation: OutlinedOperation,
  typed: ParameterInputs,
  body: string | undefined,
): Promise<ReceivedResponse> {
  const started = performance.now();
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), LONGEST_MS);
  try {
    const answer = await answerTo(operation.id as OperationName, {
      ...contentOf(operation, typed),
      ...(body !== undefined && body.trim() !== '' && { body: JSON.parse(body) as unknown }),
      signal: ended.signal,
    });
    const text = await readSome(answer);
    const headers = SHOWN.flatMap((name): [string, string][] => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return { status: answer.status, headers, body: indented(text), milliseconds: performance.now() - started };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const headers: [string, string][] = error.requestId === null ? [] : [['x-request-id', error.requestId]];
    const shown = JSON.stringify({ errors: error.problems }, null, 2);
    return { status: error.status, headers, body: shown, milliseconds: performance.now() - started };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a response up to a maximum length or time. */
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

/** Returns the request as a shell command. The user must add the token. */
function curlOf(operation: OutlinedOperation, typed: ParameterInputs, body: string | undefined): string {
  const path = pathOf(operation.id as OperationName, contentOf(operation, typed));
  const parts = [
    `curl ${quoteForShell(location.origin + path.replaceAll(/%7B(\w+)%7D/g, '{$1}'))}`,
    '-H "Authorization: Bearer $TOKEN"',
  ];
  if (operation.method !== 'GET') parts.splice(1, 0, `-X ${operation.method}`);
  for (const [name, value] of Object.entries(inputsOf(operation, typed, 'header')))
    parts.push(`-H ${quoteForShell(`${name}: ${value}`)}`);
  if (body !== undefined && body.trim() !== '') {
    parts.push('-H "Content-Type: application/json"', `-d ${quoteForShell(body)}`);
  }
  return parts.join(' \\\n  ');
}

const JSON_TYPE = 'application/json';

/** Sends real requests with the session of the user. JSON bodies can be edited. */
function TryOut({ operation }: { operation: OutlinedOperation }) {
  const { method, parameters } = operation;
  const [typed, setTyped] = useState<ParameterInputs>({});
  const [sent, setBody] = useState(() => exampleOf(operation));
  const trying = useMutation({ mutationFn: () => sendOperation(operation, typed, sent) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    trying.mutate();
  };
  return (
    <form onSubmit={submit} className={classes.try} aria-label={messages.tryIt} lang={language}>
      <Stack gap="sm">
        <Text fw={600} size="sm">
          {messages.tryIt}
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
            label={messages.body}
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
            {method === 'GET' ? messages.send : messages.sendChange}
          </SteadyButton>
          <CopyButton text={curlOf(operation, typed, sent)} label={messages.copyCurl} />
        </Group>
        {trying.error !== null && <ProblemAlert error={trying.error} />}
        {trying.data && <Result of={trying.data} />}
      </Stack>
    </form>
  );
}

/** Returns the initial body. Undefined if the operation does not accept JSON. */
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

function Result({ of: { status, headers, body, milliseconds } }: { of: ReceivedResponse }) {
  return (
    <div role="status">
      <Group gap="xs" mb={6}>
        <Badge color={status < 400 ? 'teal.9' : 'red.8'} variant="filled">
          {status}
        </Badge>
        <Text size="xs" c="dimmed">
          {`${Math.round(milliseconds)} ms`}
        </Text>
        {headers.map(([name, value]) => (
          <Text key={name} size="xs" c="dimmed">
            {name}: {value}
          </Text>
        ))}
      </Group>
      {body !== '' && (
        <pre className={classes.result} tabIndex={0} aria-label={messages.response}>
          {body}
        </pre>
      )}
    </div>
  );
}
