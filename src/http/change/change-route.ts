/** Routes that change the schema by one operation: its input is read, it is carried out, and what it made is shown. */
import type { z } from 'zod';
import type { Texts } from '../../kernel/bytes.js';
import type { State } from '../../schema/model/state.js';
import type { CommandOf, InputOf, OperationName } from '../../schema/operations/index.js';
import { type Answer, noContent } from '../answer/answer.js';
import { type ChangeDeps, asks, change, commandOf } from './change.js';
import { jsonTextsAnswer } from '../answer/json-text.js';
import { inManagedSchema } from '../managed-schema.js';
import { type Call, type Method, route, type Route } from '../route.js';

interface Change<N extends OperationName, Query> {
  name: N;
  /** What the operation reads, of the path, the query and the body. */
  input(call: Call<Query>): InputOf<N>;
  /** What the answer shows under `data`, as JSON; without, it is 204. */
  shows?(state: State, command: CommandOf<N>, call: Call<Query>): Texts;
}

/** A change of some operation, whose name and shapes belong together. */
export interface AnyChange<Query> extends Change<OperationName, Query> {}

/** TypeScript can't follow a name that isn't known yet. */
export const changeOf = <N extends OperationName, Query>(change: Change<N, Query>): AnyChange<Query> =>
  change as unknown as AnyChange<Query>;

interface ChangeRoute<N extends OperationName, Query> extends Change<N, Query> {
  method: Exclude<Method, 'get'>;
  path: string;
  query: z.ZodType<Query>;
}

/** A route for administrators. It takes a JSON body, unless it deletes. */
export function changeRoute<N extends OperationName, Query>(deps: ChangeDeps, spec: ChangeRoute<N, Query>): Route {
  return severalChangesRoute(deps, { ...spec, choose: () => changeOf(spec) });
}

interface SeveralChangesRoute<Query> {
  method: Exclude<Method, 'get'>;
  path: string;
  query: z.ZodType<Query>;
  /** Which operation the body asks for. */
  choose(call: Call<Query>): AnyChange<Query>;
}

/** The same where the body says which operation it is. */
export function severalChangesRoute<Query>(deps: ChangeDeps, { choose, ...spec }: SeveralChangesRoute<Query>): Route {
  const { config } = deps;
  return route({
    ...spec,
    access: 'admin',
    ...(spec.method !== 'delete' && { body: 'json' as const }),
    async handle(given) {
      const call = { ...given, body: await inManagedSchema(given.body, config.schema) };
      const { name, input, shows } = choose(call);
      const wanted = input(call);
      const command = await commandOf(name, wanted);
      const render = ({ state, position }: { state: State; position: number }) =>
        shows === undefined ? noContent(position) : dataAnswer(shows(state, command, call), position);
      return change(deps, call, { name, command, render, online: asks(call, 'online') ? wanted : undefined });
    },
  });
}

async function dataAnswer(texts: Texts, position: number): Promise<Answer> {
  return { ...(await jsonTextsAnswer(inData(texts))), position };
}

function* inData(texts: Texts): Generator<string, void, void> {
  yield '{"data":';
  yield* texts;
  yield '}';
}
