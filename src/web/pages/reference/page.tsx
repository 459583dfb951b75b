import searchIcon from 'icon:search';
import { Anchor, Text, TextInput, Title, Stack, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState, useEffect, useId, useRef } from 'react';
import openIcon from 'icon:expand_more';
import {
  type Outline,
  type OutlinedOperation,
  outlineOf,
  type Member,
  type OutlinedParameter,
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

function Shape({ shape: { name, description, members, type } }: { shape: Outline['shapes'][number] }) {
  return (
    <details className={classes.shape} id={`shape-${name}`}>
      <summary>{name}</summary>
      {description !== '' && (
        <p>
          <Words>{description}</Words>
        </p>
      )}
      {members.length === 0 ? <p>{typeText(type)}</p> : <Members of={members} label={`Members of ${name}`} />}
    </details>
  );
}

/** Text in backticks is code. */
const Words = ({ children }: { children: string }) =>
  children
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 0 ? part : <code key={`${index} ${part}`}>{part}</code>));

/** The outline has names of shapes in angle brackets. */
const typeText = (type: string): string => type.replaceAll(/<(\w+)>/g, '$1');

/** @param props.label for screen readers */
function Members({ of, label }: { of: readonly (Member | OutlinedParameter)[]; label: string }) {
  return (
    <div className={classes.scroller} role="region" aria-label={label} tabIndex={0}>
      <table className={classes.members}>
        <thead>
          <tr>
            {['Name', 'In', 'Type', 'Description'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((member) => (
            <tr key={`${placeOf(member)} ${member.name}`}>
              <th scope="row">
                <code>{member.name}</code>
              </th>
              <td>{placeOf(member)}</td>
              <td>{typeText(member.type)}</td>
              <td>
                <Words>{member.description}</Words>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const placeOf = (member: Member | OutlinedParameter): string =>
  'in' in member ? member.in : member.required ? 'required' : 'optional';

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
  const { id, description, parameters, body, answers } = operation;
  return (
    <Stack gap="md" className={classes.details}>
      <Text size="sm">
        <Words>{description}</Words>
      </Text>
      {parameters.length > 0 && <Members of={parameters} label={`Parameters of ${id}`} />}
      {body && (
        <Text size="sm">
          Body: {typeText(body.type)} as {body.media.join(', ')}
        </Text>
      )}
      <ul className={classes.answers}>
        {answers.map(({ status, type }) => (
          <li key={status}>
            <strong>{status}</strong> {typeText(type)}
          </li>
        ))}
      </ul>
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
        {(found) => <Operations outline={found} />}
      </Answered>
    </Page>
  );
}

function Operations({ outline: { tags, shapes } }: { outline: Outline }) {
  const { op } = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const fits = ({ method, path, summary }: OutlinedOperation) =>
    `${method} ${path} ${summary}`.toLowerCase().includes(wanted);
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
      {wanted === '' && (
        <section aria-labelledby="shapes">
          <Title order={2} size="h5" mt="xl" mb="xs" id="shapes">
            {' '}
            Schemas
          </Title>
          {shapes.map((shape) => (
            <Shape key={shape.name} shape={shape} />
          ))}
        </section>
      )}
    </>
  );
}
