/** Routes of the API description, as a document for programs and as a page. */
import { noQuery } from '../request/query.js';
import { bytes } from '../../kernel/bytes.js';
import { type Rendered, renderInChunks } from '../../reads/rendered-cache.js';
import { JSON_TYPE } from '../answer/answer.js';
import { representationAnswer } from '../answer/representation.js';
import { z } from 'zod';
import { type Documentation, route, type Route } from '../route.js';
import { runYielding } from '../../kernel/event-loop.js';
import { runShared } from '../../kernel/scheduler.js';

/** The path of this service, and the path that Directus clients use. */
const DOCUMENTS: readonly (Pick<Documentation, 'operationId' | 'summary'> & { path: string })[] = [
  { path: '/server/openapi.json', operationId: 'getOpenApi', summary: 'Retrieve this document' },
  {
    path: '/server/specs/oas',
    operationId: 'readOpenApiSpec',
    summary: 'Retrieve this document at the path that Directus clients use',
  },
];

const HTML_TYPE = 'text/html; charset=utf-8';

/**
 * Returns the routes of the OpenAPI document. The document describes `routes` and these routes. It is built at the
 * first request, because most processes never serve it.
 */
export function openApiRoutes(routes: readonly Route[], release: string): Route[] {
  const own: Route[] = [
    ...DOCUMENTS.map((described) =>
      route({
        ...described,
        method: 'get',
        access: 'reader',
        query: noQuery,
        answers: { 200: z.looseObject({ openapi: z.string() }) },
        validated: true,
        handle: async ({ req }) => representationAnswer({ ...(await getRendered()).document, type: JSON_TYPE }, req),
      }),
    ),
    route({
      method: 'get',
      path: '/docs',
      operationId: 'getDocs',
      summary: 'Retrieve this document as a page',
      access: 'anyone',
      query: noQuery,
      answers: { 200: ['text/html'] },
      validated: true,
      async handle({ req }) {
        const { page, policy } = await getRendered();
        const headers = ['Content-Security-Policy', policy, 'Referrer-Policy', 'no-referrer'];
        return representationAnswer({ ...page, type: HTML_TYPE }, req, headers);
      },
    }),
  ];
  let making: Promise<RenderedApi> | undefined;
  const getRendered = (): Promise<RenderedApi> => (making ??= runShared(() => renderAll([...routes, ...own], release)));
  return own;
}

interface RenderedApi {
  document: Rendered;
  page: Rendered;
  policy: string;
}

async function renderAll(routes: readonly Route[], release: string): Promise<RenderedApi> {
  const { openApiDocument } = await import('../openapi/document.js');
  const { PAGE_POLICY: policy, pageOf } = await import('../openapi/page.js');
  const described = openApiDocument(routes, release);
  const rendered = (text: string) => runYielding(renderInChunks(bytes([text])));
  return { document: await rendered(JSON.stringify(described)), page: await rendered(pageOf(described)), policy };
}
