/** Routes that read schema documents: paginated lists and single documents. */
import { type Texts, bytes } from '../../kernel/bytes.js';
import type { State } from '../../schema/model/state.js';
import type { HttpDeps } from '../deps.js';
import type { QueryShape } from '../request/query.js';
import { type Call, type Documentation, type Route, route } from '../route.js';
import { type ListQuery, listTexts, pageKey, pickText } from './list.js';
import { type Answer, JSON_TYPE } from '../answer/answer.js';
import { representationAnswer } from '../answer/representation.js';

/* Reads of the schema: the state at the head, rendered once per state. */

/** Responds with the JSON that `render` produces; `key` identifies the response among those of one state. */
type Read = (call: Call<unknown>, key: string, render: (state: State) => Texts) => Promise<Answer>;

/** Sends an ETag of the content, and 304 if the client already has it. */
function createRead({ store, rendered }: Pick<HttpDeps, 'store' | 'rendered'>): Read {
  return async (call, key, render) => {
    const state = await store.atHead(call.head);
    const { body, etag, encoded } = await rendered.get(state.collections, key, () => bytes(render(state)));
    return representationAnswer({ body, etag, encoded, type: JSON_TYPE, position: state.position }, call.req);
  };
}

type Deps = Pick<HttpDeps, 'store' | 'rendered'>;

interface Reading<Query> extends Omit<Documentation, 'validated'> {
  path: string;
  query: QueryShape<Query>;
  /** Identifies the content among all responses for a state. */
  key: (call: Call<Query>) => string;
}

interface ListRoute<Query> extends Reading<Query> {
  /**
   * The JSON of every item, in order; empty texts are skipped.
   * @throws Refused
   */
  texts: (state: State, call: Call<Query>) => Texts;
}

/** For readers. The page is cut from the texts, so `texts` ignores pagination. */
export function listRoute<Query extends ListQuery>(deps: Deps, { key, texts, ...spec }: ListRoute<Query>): Route {
  const read = createRead(deps);
  return route({
    ...spec,
    method: 'get',
    access: 'reader',
    validated: true,
    handle: (call) =>
      read(call, `${key(call)} ${pageKey(call.query)}`, (state) => listTexts(texts(state, call), call.query)),
  });
}

interface DocumentRoute<Query> extends Reading<Query> {
  /**
   * The JSON of the whole document.
   * @throws Refused
   */
  text: (state: State, call: Call<Query>) => string;
}

/** For readers. `fields` selects members from the output of `text`. */
export function documentRoute<Query extends { fields?: readonly string[] | undefined }>(
  deps: Deps,
  { key, text, ...spec }: DocumentRoute<Query>,
): Route {
  const read = createRead(deps);
  return route({
    ...spec,
    method: 'get',
    access: 'reader',
    validated: true,
    handle(call) {
      const { fields } = call.query;
      return read(call, `${key(call)} ${JSON.stringify(fields)}`, (state) => [
        `{"data":${pickText(text(state, call), fields)}}`,
      ]);
    },
  });
}
