import type { z } from 'zod';
import { functionWarnings } from '../../projector/catalog/table-facts.js';
import { runYielding } from '../../kernel/event-loop.js';
import { collectionsChanged } from '../../schema/fold/event-schemas.js';
import type { CommandOf, InputOf, OperationName } from '../../schema/operations/index.js';
import type { RenameCollection, RenameField } from '../../schema/operations/rename.js';
import { findingOf } from '../../schema/findings/finding.js';
import type { State } from '../../schema/model/state.js';
import { renamesBetween } from '../../schema/transition/renames.js';
import { warnAboutUses } from '../../schema/transition/former-name-uses.js';
import type { CompletedChange } from '../../pipeline/types.js';
import type { Warning } from '../../kernel/problem.js';
import { type Answer, jsonBytesAnswer, noContent, jsonTextsAnswer } from '../answer/answer.js';
import { type ChangeDeps, runChange, commandOf, isRequested } from './change.js';
import {
  type BodySpec,
  type Call,
  type Documentation,
  route,
  type Route,
  withoutParsing,
  type Method,
} from '../route.js';
import type { Texts } from '../../kernel/bytes.js';
import { inManagedSchemas } from '../errors.js';
import { isVisibleTo, requireNamesInScope } from '../request/scope.js';

/* Define routes that change the schema with one operation. They read its input, run it and return the result. */

interface Change<N extends OperationName, Query> {
  name: N;
  /** Reads the operation's input from path, query and body. */
  input(call: Call<Query>): InputOf<N>;
  /** Returns the JSON under `data`. If absent, the response is 204. */
  shows?(state: State, command: CommandOf<N>, call: Call<Query>): Texts;
}

/** A change whose operation is not statically known. Its name and shapes belong together. */
interface AnyChange<Query> extends Change<OperationName, Query> {}

/** Converts a change to `AnyChange`, because TypeScript cannot relate a name that is not statically known. */
export const changeOf = <N extends OperationName, Query>(change: Change<N, Query>): AnyChange<Query> =>
  change as unknown as AnyChange<Query>;

interface ChangeRouteDescription<Query> extends Omit<Documentation, 'changes'> {
  method: Exclude<Method, 'get'>;
  path: string;
  /** Null if the change is not about collections. */
  collections?: null;
  query: z.ZodType<Query>;
  /** The body, which the operation parses itself. */
  body?: BodySpec<unknown>;
}

interface ChangeRoute<N extends OperationName, Query> extends ChangeRouteDescription<Query>, Change<N, Query> {}

/** Creates a route for admins. */
export function changeRoute<N extends OperationName, Query>(
  deps: ChangeDeps,
  { name, input, shows, ...spec }: ChangeRoute<N, Query>,
): Route {
  return severalChangesRoute(deps, { ...spec, choose: () => changeOf({ name, input, ...(shows && { shows }) }) });
}

interface SeveralChangesRoute<Query> extends ChangeRouteDescription<Query> {
  /** Selects the operation by the body. */
  choose(call: Call<Query>): AnyChange<Query>;
}

/** Creates a route whose body determines the operation. */
export function severalChangesRoute<Query>(
  deps: ChangeDeps,
  { choose, body, ...spec }: SeveralChangesRoute<Query>,
): Route {
  const { config } = deps;
  const members = spec.path.startsWith('/relations') ? (['foreign_key_schema'] as const) : undefined;
  return route({
    collections: 'judged',
    ...spec,
    access: 'admin',
    changes: true,
    ...(body && { body: withoutParsing(body) }),
    async handle(submitted) {
      const call = {
        ...submitted,
        body: await inManagedSchemas(submitted.body, config.schemas, { ...(members && { members }) }),
      };
      const { name, input, shows } = choose(call);
      const operationInput = input(call);
      const command = await commandOf(name, operationInput);
      const render = ({ state, position }: { state: State; position: number }) =>
        shows === undefined ? noContent(position) : dataAnswer(shows(state, command, call), position);
      return runChange(deps, call, {
        name,
        command,
        render,
        online: isRequested(call, 'online') ? operationInput : undefined,
      });
    },
  });
}

async function dataAnswer(texts: Texts, position: number): Promise<Answer> {
  return { ...(await jsonTextsAnswer(wrapInData(texts))), position };
}

function* wrapInData(texts: Texts): Generator<string, void, void> {
  yield '{"data":';
  yield* texts;
  yield '}';
}

type Name = 'rename-collection' | 'rename-field';

interface RenameRoute<N extends Name, Query> extends Omit<Documentation, 'changes'> {
  path: string;
  query: z.ZodType<Query>;
  body: BodySpec<unknown>;
  name: N;
  input(call: Call<Query>): InputOf<N>;
  /** Returns the renamed object as JSON. */
  shows(state: State, command: CommandOf<N>, call: Call<Query>): string;
}

/** Creates a route for admins. `warnings` is absent if nothing refers to the old name. */
export function renameRoute<N extends Name, Query>(
  deps: ChangeDeps,
  { name, input, shows, body, ...spec }: RenameRoute<N, Query>,
): Route {
  return route({
    ...spec,
    method: 'post',
    access: 'admin',
    collections: 'judged',
    changes: true,
    body: withoutParsing(body),
    async handle(submitted) {
      const call = { ...submitted, body: await inManagedSchemas(submitted.body, deps.config.schemas) };
      const command = await commandOf(name, input(call));
      // An error about a name would reveal whether a collection has this name.
      if (name === 'rename-collection')
        await requireNamesInScope(call.caller, { collection: (command as RenameCollection).to });
      const render = async (done: CompletedChange<CommandOf<N>>): Promise<Answer> => {
        const { functions = [] } = done.command as RenameCollection | RenameField;
        const inFunctions = done.events.length === 0 ? [] : functionWarnings(functions);
        const warnings = [...(await findRemainingMentions(done)), ...inFunctions]
          .map(findingOf)
          .filter(({ collection }) => collection === undefined || isVisibleTo(call.caller, collection));
        const member = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
        const body = Buffer.from(`{"data":${shows(done.state, command, call)}${member}}`);
        return { ...jsonBytesAnswer(200, body), position: done.position };
      };
      return runChange(deps, call, { name, command, render });
    },
  });
}

async function findRemainingMentions({ before, state, events }: CompletedChange): Promise<Warning[]> {
  const renames = renamesBetween(before, state, collectionsChanged(events));
  return runYielding(warnAboutUses(state, renames));
}
