/** Reads of the schema: the state at the head, rendered once per state. */
import { bytes, type Texts } from '../../kernel/bytes.js';
import type { State } from '../../schema/model/state.js';
import { type Answer, JSON_TYPE } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { representationAnswer } from '../answer/representation.js';
import type { Call } from '../route.js';

/** Responds with the JSON that `render` produces; `key` identifies the response among those of one state. */
export type Read = (call: Call<unknown>, key: string, render: (state: State) => Texts) => Promise<Answer>;

/** Sends an ETag of the content, and 304 if the client already has it. */
export function createRead({ store, rendered }: Pick<HttpDeps, 'store' | 'rendered'>): Read {
  return async (call, key, render) => {
    const state = await store.atHead(call.head);
    const { body, etag, encoded } = await rendered.get(state.collections, key, () => bytes(render(state)));
    return representationAnswer({ body, etag, encoded, type: JSON_TYPE, position: state.position }, call.req);
  };
}
