/** Reads of the schema: the state at the head, the answer rendered once for it. */
import { bytes, type Texts } from '../../kernel/bytes.js';
import type { State } from '../../schema/model/state.js';
import { type Answer, JSON_TYPE } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { representationAnswer } from '../answer/representation.js';
import type { Call } from '../route.js';

/** Answers `call` with the JSON that `render` makes of the state; `key` names the answer among all of that state. */
export type Read = (call: Call<unknown>, key: string, render: (state: State) => Texts) => Promise<Answer>;

/** With an ETag by what is answered: 304 where the caller has it already. */
export function createRead({ store, rendered }: Pick<HttpDeps, 'store' | 'rendered'>): Read {
  return async (call, key, render) => {
    const state = await store.atHead(call.head);
    const { body, etag, encoded } = await rendered.get(state.collections, key, () => bytes(render(state)));
    return representationAnswer({ body, etag, encoded, type: JSON_TYPE, position: state.position }, call.req);
  };
}
