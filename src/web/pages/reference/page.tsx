import searchIcon from 'icon:search';
import { Anchor, Text, TextInput, Title, Stack, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState, useEffect, useId, useRef } from 'react';
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
} from '../../../http/openapi/outline.js';
import type { OpenApiDocument } from '../../../http/openapi/document.js';
import { request } from '../../service/request.js';
import { Answered } from '../../shared/problem-alert.js';
import { Glyph } from '../../shared/glyph.js';
import { Page, useTitle } from '../../shared/page.js';
import { ReferenceTabs } from './reference-tabs.js';
import type { ReferenceSearch } from './search.js';
import classes from './page.module.css';
import { TryOut } from './try-out.js';

function Shape({ shape }: { shape: Outline['shapes'][number] }) {
  return (
    <details className={classes.shape} id={`shape-${shape.name}`}>
      <summary>{shape.name}</summary>
      <Blocks of={shapeBlocks(shape)} about={shape.name} />
    </details>
  );
}

/** @param props.about for screen readers */
function Blocks({ of, about }: { of: readonly Block[]; about: string }) {
  return of.map((block, index) => {
    if (block.kind === 'table')
      return <BlockTable key={block.title} table={block} label={`${block.title} of ${about}`} />;
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

/** @param props.label for screen readers */
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

/** Renders details when opened. Scrolls to one that is open initially. */
function Operation({ operation, isOpen, onToggle }: Props) {
  const { method, path, summary } = operation;
  const details = useId();
  const place = useRef<HTMLLIElement>(null);
  // Only linked operations scroll into view.
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

/** Rendered from the service's OpenAPI document, which is read once. A filter hides the shapes. */
export function ReferencePage() {
  useTitle('API');
  const outline = useQuery({
    queryKey: ['outline'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => outlineOf(await request<OpenApiDocument>('/server/openapi.json', { signal })),
  });
  return (
    <Page wide>
      <Title order={1} size="h3" mb="sm">
        API
      </Title>
      <ReferenceTabs />
      <Text c="dimmed" size="sm" mt={4}>
        Every action in this app is available through the API. Other formats:{' '}
        <Anchor href="/docs" size="sm" underline="always">
          this reference as a plain page
        </Anchor>
        , and <code>/server/openapi.json</code> (OpenAPI 3.1).
      </Text>
      <Answered query={outline} label="Loading the API reference">
        {(loaded) => <Operations outline={loaded} />}
      </Answered>
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
  const toggle = (id: string) =>
    void navigate({ search: (id === op ? {} : { op: id }) satisfies ReferenceSearch, replace: true });
  const shown = tags.map((tag) => ({ ...tag, operations: tag.operations.filter(fits) }));
  return (
    <>
      <TextInput
        mt="md"
        aria-label="Filter operations"
        placeholder="Filter by path, method or word"
        leftSection={<Glyph path={searchIcon} size={18} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {shown
        .filter(({ operations }) => operations.length > 0)
        .map(({ name, description, operations }) => (
          <section key={name} aria-labelledby={`tag-${name}`}>
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
            <section key={table.title}>
              <Title order={2} size="h5" mt="xl" mb="xs">
                {table.title}
              </Title>
              <BlockTable table={table} label={table.title} />
            </section>
          ))}
          <section aria-labelledby="shapes">
            <Title order={2} size="h5" mt="xl" mb="xs" id="shapes">
              Schemas
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
