import { expect } from 'chai';
import { OPERATIONS } from '../../src/http/openapi/operations.js';
import { type TestService, startService } from '../support/service.js';
import { clientOf } from './client.js';

type Responses = Record<string, { headers?: object }>;

interface Document {
  openapi: string;
  paths: Record<string, Record<string, { summary?: string; parameters: { name: string }[]; responses: Responses }>>;
  components: { schemas: Record<string, object> };
}

describe('the OpenAPI document', () => {
  let service: TestService;
  let document: Document;

  before(async () => {
    service = await startService();
    document = (await clientOf(service)('/server/openapi.json')).json as Document;
  });
  after(() => service.stop());

  it('holds every route, each with a summary', () => {
    expect(document.openapi).equal('3.1.0');
    const shown = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { summary }]) => {
        expect(summary, `${method} ${path}`).a('string');
        return `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
      }),
    );
    expect(shown.sort()).deep.equal(Object.keys(OPERATIONS).sort());
  });

  it('names the parameters of a path and of a query', () => {
    const parameters = document.paths['/collections/{id}']?.['get']?.parameters ?? [];
    expect(parameters.map(({ name }) => name)).deep.equal(['id', 'meta', 'fields', 'id']);
    const snapshot = document.paths['/schema/snapshot']?.['get']?.parameters ?? [];
    expect(snapshot.map(({ name }) => name)).deep.equal(['export', 'includeCollections', 'excludeCollections']);
  });

  it('tells the headers of what changes the schema, and of nothing else', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { parameters, responses }] of Object.entries(methods)) {
        const isChange = method !== 'get' && /^\/(collections|fields|relations|schema\/(apply|adopt))/.test(path);
        const headers = Object.keys((responses['200'] ?? responses['204'])?.headers ?? {});
        expect(headers.includes('X-Batch-Id'), `${method} ${path}`).equal(isChange);
        expect(
          parameters.some(({ name }) => name === 'Idempotency-Key'),
          `${method} ${path}`,
        ).equal(isChange);
      }
    }
  });

  it('refers to nothing that it lacks', () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');
    expect(names).not.deep.equal([]);
    for (const name of names) expect(document.components.schemas).property(name);
  });
});
