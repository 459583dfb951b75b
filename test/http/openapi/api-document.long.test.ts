import { BaseResolver, Source, createConfig, lintDocument } from '@redocly/openapi-core';
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { apiPages } from '../../../scripts/docs/api.js';
import { clientTypes } from '../../../scripts/docs/client.js';
import { STATUS } from '../../../src/http/errors.js';
import { pageOf } from '../../../src/http/openapi/page.js';
import { expectContract } from '../../support/contract.js';
import { readPage, ROOT } from '../../support/documents.js';
import { allRoutes, documentOfRoutes } from '../../support/openapi.js';

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  parameters: { name: string; in: string; schema: Record<string, unknown>; explode?: boolean }[];
  requestBody?: { content: Record<string, { schema: { $ref?: string }; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

/** A copy of the document that is then broken. */
interface Broken {
  paths: {
    '/users': {
      get: { operationId: unknown };
      post: { requestBody: { content: { 'application/json': { example: unknown } } } };
    };
  };
  components: { schemas: object };
}

const document = documentOfRoutes();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...(operation as unknown as Operation) })),
);
const operation = (id: string) => operations.find(({ operationId }) => operationId === id)!;
const typeOf = (id: string, parameter: string) =>
  operation(id).parameters.find(({ name, in: place }) => name === parameter && place !== 'path');

describe('the OpenAPI document', () => {
  it('passes the recommended rules of a linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const remarks = (source: object) =>
      lintDocument({
        document: { source: new Source('openapi.json', JSON.stringify(source)), parsed: source },
        externalRefResolver: new BaseResolver(),
        config,
      });
    // An operation that redirects a browser has no 2xx response.
    const isRedirect = (pointer = '') => /^#\/paths\/~1auth~1oidc~1(?:login|callback)\/get\/responses$/.test(pointer);
    const problems = (await remarks(document)).filter(
      ({ ruleId, location }) => !(ruleId === 'operation-2xx-response' && isRedirect(location[0]?.pointer)),
    );
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).deep.equal([]);
    // One path and one shape are enough for the linter.
    const { paths, components } = structuredClone(document) as unknown as Broken;
    const { get, post } = paths['/users'];
    get.operationId = 0;
    post.requestBody.content['application/json'].example = { email: 'no address' };
    const shape = { type: 'object', properties: { a: { type: 'integer' } }, examples: [{ a: 'a' }] };
    const remarkList = await remarks({
      ...document,
      paths: { '/users': { get, post } },
      components: { ...components, schemas: { ...components.schemas, Shape: shape } },
    });
    expect(remarkList.map(({ location }) => location[0]?.pointer)).include.members([
      '#/paths/~1users/get/operationId',
      '#/paths/~1users/post/requestBody/content/application~1json/example/email',
      '#/components/schemas/Shape/examples/0/a',
    ]);
  });

  it('describes every route and nothing else', () => {
    const shown = operations.map(
      ({ path, method }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    );
    const routes = allRoutes().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(shown.sort()).deep.equal(routes.sort());
    expect(new Set(operations.map(({ operationId }) => operationId)).size).equal(operations.length);
    for (const { tags, summary } of operations) expect([tags.length, summary.length > 3]).deep.equal([1, true]);
    expect(document['servers']).deep.include({ url: '/', description: 'This service' });
  });

  it('uses client types for parameters', () => {
    expect(typeOf('listCollections', 'limit')?.schema).deep.equal({ type: 'integer', minimum: 0 });
    expect(typeOf('listEvents', 'limit')?.schema).deep.equal({ type: 'integer', minimum: 1, maximum: 1000 });
    expect(typeOf('listUsers', 'limit')?.schema).deep.equal({ type: 'integer', minimum: 0, maximum: 1000 });
    expect(typeOf('diffSnapshot', 'force')?.schema).deep.equal({ type: 'boolean' });
    expect(typeOf('listFields', 'fields')).deep.include({ explode: false });
    expect(typeOf('listFields', 'meta')?.schema).include({ type: 'array' });
    expect(typeOf('getPastSnapshot', 'at')?.schema).deep.equal({ type: 'string' });
  });

  it('describes other responses: none, files, streams', () => {
    const media = (id: string, status = '200') => Object.keys(operation(id).responses[status]?.content ?? {});
    expect(Object.keys(operation('applyDiff').responses)).include.members(['200', '204', '409', '412', '422']);
    expect(media('exportLog')).deep.equal(['application/x-ndjson']);
    expect(media('streamEvents')).deep.equal(['text/event-stream']);
    expect(media('getMetrics')).deep.equal(['text/plain']);
    expect(media('getSnapshot')).deep.equal(['application/json', 'text/csv', 'application/xml', 'application/yaml']);
    expect(media('getPastSnapshot')).include('application/sql');
    expect(media('getHealth', '503')).deep.equal(['application/json']);
  });

  it('lists every error code with its status', () => {
    const { schemas, responses } = document.components;
    const text = JSON.stringify(schemas?.['Errors']);
    const reported = Object.values(responses ?? {}).flatMap(({ description }) => String(description).split(', '));
    for (const code of Object.keys(STATUS)) expect(text).include(`"${code}"`);
    for (const code of reported) expect(STATUS).property(code);
    expect(operation('login').responses).property('429');
    expect(operation('ping').responses).not.property('403');
    expect(operation('listUsers').responses).property('403');
  });

  it('describes event types individually, and requires nothing optional of a PATCH', () => {
    const { schemas = {} } = document.components;
    expect(JSON.stringify(schemas['Event'])).include('CollectionCreatedEvent').include('LogAcknowledgedEvent');
    expect(schemas['FieldCreatedEvent']?.['required']).include('data');
    for (const name of ['FieldUpdate', 'CollectionUpdate', 'RelationInput']) {
      expect(schemas[name]?.['required'] ?? [], name).deep.equal([]);
    }
    expect(JSON.stringify(document)).not.include('__schema');
  });

  it('has valid examples for bodies and shapes', () => {
    const bodies = operations.flatMap(({ requestBody }) => requestBody?.content['application/json'] ?? []);
    expect(bodies.filter(({ example }) => example !== undefined).length).greaterThan(10);
    const shapes = Object.values(document.components['schemas'] ?? {}).filter((schema) => 'examples' in schema);
    expect(shapes.length).greaterThan(3);
  });

  it('matches docs/api (npm run docs -- api)', () => {
    const pages = apiPages(document);
    expect(readdirSync(join(ROOT, 'docs/api')).sort()).deep.equal([...pages.keys()].sort());
    for (const [name, text] of pages) expect(readPage(`docs/api/${name}`), name).equal(text);
  });

  it('is also the source of the types of the client (npm run docs -- api)', () => {
    expect(readPage('src/client/api.ts')).equal(clientTypes(allRoutes(), document));
  });

  it('renders a page with working links that loads nothing', () => {
    const page = pageOf(document);
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.length).greaterThan(50);
    expect(links.filter((id) => !ids.has(id))).deep.equal([]);
    expect(page).not.match(/<script|<img|<link|(?:src|href|action)\s*=\s*["']?https?:|@import|url\(/i);
    for (const { operationId } of operations) expect(page).include(`<details id="${operationId}">`);
  });
});

describe('the response checks of the tests', () => {
  const answered = { method: 'GET', path: '/users/me', sent: undefined, status: 200, contentType: 'application/json' };
  const me = {
    id: '00000000-0000-4000-8000-000000000000',
    email: 'a@example.com',
    name: 'a',
    role: 'admin',
    status: 'active',
    created_at: '2026-01-01T00:00:00.000Z',
    invitation_expires_at: null,
    access: { credential: 'password', role: 'admin', actions: ['read'], expires_at: null, scope: null, rule: null },
  };
  const fails = (observed: object): void => {
    expect(() => expectContract({ ...answered, received: { data: me }, ...observed })).throw(/document|media type/);
  };

  it('accept valid responses', () => {
    expectContract({ ...answered, received: { data: me } });
    expectContract({ ...answered, path: '/users/me?fields=id', received: { data: { id: me.id } } });
  });

  it('treat a fixed path as fixed, although a path with a parameter has the method', () => {
    const errors = [{ message: 'DELETE is not allowed.', extensions: { code: 'METHOD_NOT_ALLOWED' } }];
    expectContract({ ...answered, method: 'DELETE', status: 405, received: { errors } });
  });

  it('report extra, missing and invalid members, and other statuses, types and bodies', () => {
    fails({ received: { data: { ...me, more: 1 } } });
    fails({ received: { data: { ...me, role: undefined } } });
    fails({ received: { data: { ...me, created_at: 'yesterday' } } });
    fails({ status: 201 });
    fails({ contentType: 'text/html' });
    fails({ status: 404, path: '/nowhere', received: { errors: [{ message: 'x', extensions: { code: 'NEW' } }] } });
    fails({ method: 'PATCH', path: '/collections/a', sent: { mata: {} }, received: undefined });
  });
});
