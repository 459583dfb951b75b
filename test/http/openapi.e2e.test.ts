import { expect } from 'chai';
import { documentOfRoutes } from '../support/openapi.js';
import { withService } from '../support/with-service.js';

type Responses = Record<string, { headers?: object }>;
type Operation = { parameters: { name: string; in: string }[]; responses: Responses };

describe('the OpenAPI document, served', () => {
  const { service, client } = withService();

  it('describes all routes, under both paths', async () => {
    for (const path of ['/server/openapi.json', '/server/specs/oas']) {
      const { json, headers } = await client(path);
      expect(JSON.stringify(json)).equal(JSON.stringify(documentOfRoutes(false)));
      const again = await client(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
      expect(again.status).equal(304);
      expect((await client(path, { token: null })).status).equal(401);
    }
  });

  it('names path and query parameters', () => {
    const { paths } = documentOfRoutes(false) as unknown as { paths: Record<string, Record<string, Operation>> };
    const named = (path: string) => paths[path]?.['get']?.parameters.map(({ name, in: place }) => `${place} ${name}`);
    expect(named('/collections/{id}')).deep.equal([
      'path id',
      'query meta',
      'query fields',
      'query id',
      'header X-Log-Position-At-Least',
      'header If-None-Match',
    ]);
    expect(named('/history/diff')).deep.equal(['query from', 'query to', 'header X-Log-Position-At-Least']);
    expect(named('/server/health')).deep.equal([]);
  });

  it('lists the change headers for schema changes only', () => {
    const { paths } = documentOfRoutes(false) as unknown as { paths: Record<string, Record<string, Operation>> };
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { parameters, responses }] of Object.entries(methods)) {
        const isChange =
          method !== 'get' && /^\/(collections|fields|relations|trash|changes|schema\/(apply|adopt|drift))/.test(path);
        const headers = Object.keys((responses['200'] ?? responses['204'])?.headers ?? {});
        expect(headers.includes('X-Batch-Id'), `${method} ${path}`).equal(isChange);
        const names = parameters.map(({ name }) => name);
        const isRepeatable = isChange || ['put /policy', 'put /auth/trust'].includes(`${method} ${path}`);
        expect(names.includes('Idempotency-Key'), `${method} ${path}`).equal(isRepeatable);
      }
    }
  });

  it('is also a page that needs no token, runs no script and loads nothing', async () => {
    const { status, headers, text } = await client('/docs', { token: null });
    expect([status, headers.get('content-type')]).deep.equal([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).match(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'/,
    );
    expect(text).include('/collections/{id}').not.include(service.url);
    const etag = headers.get('etag') ?? '';
    expect((await client('/docs', { token: null, headers: { 'if-none-match': etag } })).status).equal(304);
  });
});
