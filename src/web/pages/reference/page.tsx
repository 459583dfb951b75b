import searchIcon from 'icon:search';
import { Anchor, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { type Outline, type OutlinedOperation, outlineOf } from '../../../http/openapi/outline.js';
import type { OpenApiDocument } from '../../../http/openapi/document.js';
import { request } from '../../service/request.js';
import { Answered } from '../../shared/answered.js';
import { Glyph } from '../../shared/glyph.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { Operation } from './operation.js';
import { Shape } from './shape.js';
import { ReferenceTabs } from './reference-tabs.js';
import type { ReferenceSearch } from './search.js';
import classes from './page.module.css';

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
