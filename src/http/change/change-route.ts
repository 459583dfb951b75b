/** Routes that change the schema with one operation: they read its input, run it and render the result. */
import type { z } from 'zod';
import type { Texts } from '../../kernel/bytes.js';
import type { State } from '../../schema/model/state.js';
import type { CommandOf, InputOf, OperationName } from '../../schema/operations/index.js';
import { type Answer, noContent } from '../answer/answer.js';
import { type ChangeDeps, asks, change, commandOf } from './change.js';
import { jsonTextsAnswer } from '../answer/json-text.js';
import { inManagedSchema } from '../managed-schema.js';
import { type BodySpec, type Call, type Documentation, type Method, route, type Route, unparsed } from '../route.js';

interface Change<N extends OperationName, Query> {
  name: N;
  /** Reads the operation's input from path, query and body. */
  input(call: Call<Query>): InputOf<N>;
  /** The JSON under `data`; if absent, the response is 204. */
  shows?(state: State, command: CommandOf<N>, call: Call<Query>): Texts;
}

/** A change whose operation is not statically known. Its name and shapes belong together. */
export interface AnyChange<Query> extends Change<OperationName, Query> {}

/** TypeScript cannot relate a name that is not statically known. */
export const changeOf = <N extends OperationName, Query>(change: Change<N, Query>): AnyChange<Query> =>
  change as unknown as AnyChange<Query>;

interface Described<Query> extends Omit<Documentation, 'changes'> {
  method: Exclude<Method, 'get'>;
  path: string;
  query: z.ZodType<Query>;
  /** The operation parses it. */
  body?: BodySpec<unknown>;
}

interface ChangeRoute<N extends OperationName, Query> extends Described<Query>, Change<N, Query> {}

/** A route for administrators. */
export function changeRoute<N extends OperationName, Query>(
  deps: ChangeDeps,
  { name, input, shows, ...spec }: ChangeRoute<N, Query>,
): Route {
  return severalChangesRoute(deps, { ...spec, choose: () => changeOf({ name, input, ...(shows && { shows }) }) });
}

interface SeveralChangesRoute<Query> extends Described<Query> {
  /** Selects the operation from the body. */
  choose(call: Call<Query>): AnyChange<Query>;
}

/** For routes whose body determines the operation. */
export function severalChangesRoute<Query>(
  deps: ChangeDeps,
  { choose, body, ...spec }: SeveralChangesRoute<Query>,
): Route {
  const { config } = deps;
  return route({
    ...spec,
    access: 'admin',
    changes: true,
    ...(body && { body: unparsed(body) }),
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
