/** GET /schema/types: the schema as type definitions of programming languages. */
import { z } from 'zod';
import { NOW } from '../../reads/history/time-travel.js';
import { LANGUAGES, type Language, programTypes } from '../../schema/program-types.js';
import type { HttpDeps } from '../deps.js';
import { createPointAt } from '../history.js';
import { moment } from '../request/history-query.js';
import { representationAnswer } from '../answer/representation.js';
import { route, type Route } from '../route.js';

const typesQuery = z.strictObject({
  lang: z
    .enum(LANGUAGES, { error: `must be one of ${LANGUAGES.join(', ')}.` })
    .default('ts')
    .describe('`ts`: the schema type of `@directus/sdk`. `zod`: Zod schemas. `json-schema`: JSON Schema 2020-12'),
  at: moment.default(NOW),
});

const MEDIA_TYPES: Readonly<Record<Language, string>> = {
  ts: 'text/plain; charset=utf-8',
  zod: 'text/plain; charset=utf-8',
  'json-schema': 'application/schema+json; charset=utf-8',
};

/** Available to admins. Rendered once per language and state. */
export function typesRoutes(deps: HttpDeps): Route[] {
  const { rendered, config } = deps;
  const pointAt = createPointAt(deps);
  const types = route({
    method: 'get',
    path: '/schema/types',
    operationId: 'getTypes',
    summary: 'Generate type definitions of the schema',
    description: 'The first line contains the hash of the schema. Equal schemas yield equal bytes.',
    access: 'admin',
    action: 'read',
    query: typesQuery,
    answers: { 200: ['text/plain', 'application/schema+json'] },
    validated: true,
    errors: ['NOT_FOUND'],
    async handle(call) {
      const { lang, at } = call.query;
      const { state, head } = await pointAt(at, 'at', call);
      const file = () => programTypes(state, lang, config.release);
      const content = await rendered.get(state.collections, `types ${lang}`, file);
      return representationAnswer({ ...content, type: MEDIA_TYPES[lang], position: head.position }, call.req);
    },
  });
  return [types];
}
