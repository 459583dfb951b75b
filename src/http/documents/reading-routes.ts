/** Routes that read schema documents: paginated lists and single documents. */
import type { Texts } from '../../kernel/bytes.js';
import type { State } from '../../schema/model/state.js';
import type { HttpDeps } from '../deps.js';
import type { QueryShape } from '../request/query.js';
import { type Call, type Route, route } from '../route.js';
import { type ListQuery, listTexts, pageKey } from './list.js';
import { createRead } from './read.js';
import { pickText } from './shown-members.js';

type Deps = Pick<HttpDeps, 'store' | 'rendered'>;

interface Reading<Query> {
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
    handle(call) {
      const { fields } = call.query;
      return read(call, `${key(call)} ${JSON.stringify(fields)}`, (state) => [
        `{"data":${pickText(text(state, call), fields)}}`,
      ]);
    },
  });
}
