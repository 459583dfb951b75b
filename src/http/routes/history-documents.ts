/** /history/schema: documents at a point in time, in list form. */
import { z } from 'zod';
import { emptyTexts, type Texts, withCommas } from '../../kernel/bytes.js';
import { NOW } from '../../reads/history/time-travel.js';
import { collectionsInOrder, relationsInOrder } from '../../schema/model/order.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import {
  keyTarget,
  relationDocument,
  collectionDocumentOf,
  fieldDocumentsOf,
} from '../../schema/snapshot/documents.js';
import type { PointAt } from '../history.js';
import { moment } from '../request/history-query.js';
import { jsonTextsAnswer } from '../answer/answer.js';
import { nameList } from '../request/query.js';
import { pastDocuments } from '../openapi/answers/history.js';
import { type Route, route } from '../route.js';

const PARTS = ['collections', 'fields', 'relations'] as const;
type Part = (typeof PARTS)[number];

const query = z.strictObject({
  at: moment.default(NOW),
  parts: z
    .string()
    .transform((text, context): readonly Part[] => {
      const names = text.split(',');
      if (names.every((name) => PARTS.some((part) => part === name)))
        return PARTS.filter((part) => names.includes(part));
      context.addIssue(`must be some of ${PARTS.join(', ')}, with commas between them.`);
      return z.NEVER;
    })
    .pipe(z.array(z.enum(PARTS)).readonly())
    .default(PARTS)
    .describe('Which documents, with commas between them: `collections`, `fields`, `relations`'),
  collections: nameList.optional(),
});

/** Names that did not exist at that time are ignored, because clients request many points with the names of one. */
export function documentsRoute(pointAt: PointAt): Route {
  return route({
    method: 'get',
    path: '/history/schema',
    operationId: 'getPastDocuments',
    summary: 'Collections, fields and relations as they were at a moment, or some of them',
    access: 'auditor',
    query,
    answers: { 200: pastDocuments },
    errors: ['NOT_FOUND'],
    async handle(call) {
      const { at, parts, collections } = call.query;
      const { state, head } = await pointAt(at, 'at', call);
      const { position, occurred_at } = head;
      const names = collections && new Set(collections);
      const texts = documentsTexts(state, { parts, names, meta: { position, occurred_at } });
      return { ...(await jsonTextsAnswer(texts)), position };
    },
  });
}

interface Shown {
  parts: readonly Part[];
  /** Limits the response to these collections; undefined for all. */
  names: ReadonlySet<string> | undefined;
  meta: object;
}

function* documentsTexts(state: State, { parts, names, meta }: Shown): Generator<string, void, void> {
  const nodes = names === undefined ? yield* emptyTexts(collectionsInOrder(state)) : nodesOf(state, names);
  yield '{"data":{';
  for (const part of parts) {
    yield `${part === parts[0] ? '' : ','}"${part}":[`;
    yield* withCommas(textsOf(part, state, nodes));
    yield ']';
  }
  yield `},"meta":${JSON.stringify(meta)}}`;
}

const nodesOf = ({ collections }: State, names: ReadonlySet<string>): CollectionNode[] =>
  [...names].flatMap((name) => collections.get(name) ?? []);

function* textsOf(part: Part, state: State, nodes: readonly CollectionNode[]): Texts & Generator<string, void, void> {
  for (const node of nodes) {
    yield '';
    if (part === 'collections') yield JSON.stringify(collectionDocumentOf(state, node));
    else if (part === 'fields') {
      for (const field of yield* emptyTexts(fieldDocumentsOf(state, node))) yield JSON.stringify(field);
    } else {
      for (const relation of relationsInOrder(node)) {
        yield JSON.stringify(relationDocument(relation, keyTarget(state, node, relation.many_field)));
      }
    }
  }
}
