/** The API description: for programs, and as a page. */
import { noQuery } from '../request/query.js';
import { bytes } from '../../kernel/bytes.js';
import { type Rendered, renderedChunks } from '../../reads/rendered-cache.js';
import { JSON_TYPE } from '../answer/answer.js';
import { representationAnswer } from '../answer/representation.js';
import { openRoute, route, type Route } from '../route.js';
import { runYielding } from '../../kernel/event-loop.js';
import { runShared } from '../../kernel/scheduler.js';

/** Our path, and the path that Directus clients use. */
const DOCUMENT_PATHS = ['/server/openapi.json', '/server/specs/oas'];

const HTML_TYPE = 'text/html; charset=utf-8';

/**
 * The OpenAPI document of `routes`, including its own. Built on the first request, because most processes never serve
 * it.
 */
export function openApiRoutes(routes: readonly Route[], release: string): Route[] {
  const own: Route[] = [
    ...DOCUMENT_PATHS.map((path) =>
      route({
        method: 'get',
        path,
        access: 'reader',
        query: noQuery,
        handle: async ({ req }) => representationAnswer({ ...(await made()).document, type: JSON_TYPE }, req),
      }),
    ),
    openRoute({
      method: 'get',
      path: '/docs',
      query: noQuery,
      async handle({ req }) {
        const { page, policy } = await made();
        const headers = ['Content-Security-Policy', policy, 'Referrer-Policy', 'no-referrer'];
        return representationAnswer({ ...page, type: HTML_TYPE }, req, headers);
      },
    }),
  ];
  let making: Promise<Made> | undefined;
  const made = (): Promise<Made> => (making ??= runShared(() => make([...routes, ...own], release)));
  return own;
}

interface Made {
  document: Rendered;
  page: Rendered;
  policy: string;
}

async function make(routes: readonly Route[], release: string): Promise<Made> {
  const { openApiDocument } = await import('../openapi/document.js');
  const { PAGE_POLICY: policy, pageOf } = await import('../openapi/page.js');
  const described = openApiDocument(routes, release);
  const rendered = (text: string) => runYielding(renderedChunks(bytes([text])));
  return { document: await rendered(JSON.stringify(described)), page: await rendered(pageOf(described)), policy };
}
