import type { z } from 'zod';
import { type NamingFunction, functionWarnings, functionsNaming } from '../../projector/catalog/functions-naming.js';
import { runYielding } from '../../kernel/event-loop.js';
import { collectionsChanged } from '../../schema/fold/event-schemas.js';
import type { CommandOf, InputOf } from '../../schema/operations/index.js';
import type { RenameCollection, RenameField } from '../../schema/operations/rename.js';
import { findingOf } from '../../schema/findings/index.js';
import type { State } from '../../schema/model/state.js';
import { renamesBetween } from '../../schema/transition/renames.js';
import { stillUsed } from '../../schema/transition/still-used.js';
import type { Done } from '../../pipeline/types.js';
import type { Warning } from '../../kernel/warning.js';
import { type Answer, jsonBytesAnswer } from '../answer/answer.js';
import { type ChangeDeps, change, commandOf, isRehearsal } from './change.js';
import { type BodySpec, type Call, type Documentation, route, type Route, unparsed } from '../route.js';

type Name = 'rename-collection' | 'rename-field';

interface RenameRoute<N extends Name, Query> extends Omit<Documentation, 'changes'> {
  path: string;
  query: z.ZodType<Query>;
  body: BodySpec<unknown>;
  name: N;
  input(call: Call<Query>): InputOf<N>;
  /** The renamed object as JSON. */
  shows(state: State, command: CommandOf<N>, call: Call<Query>): string;
}

/** For admins. `warnings` is absent if nothing refers to the old name. */
export function renameRoute<N extends Name, Query>(
  deps: ChangeDeps,
  { name, input, shows, body, ...spec }: RenameRoute<N, Query>,
): Route {
  return route({
    ...spec,
    method: 'post',
    access: 'admin',
    changes: true,
    body: unparsed(body),
    async handle(call) {
      const command = await commandOf(name, input(call));
      let functions: NamingFunction[] = [];
      const looked = async (client: Parameters<typeof functionsNaming>[0]): Promise<CommandOf<N>> => {
        functions = await functionsNaming(client, [oldName(command as RenameCollection | RenameField)]);
        return command;
      };
      const render = async (done: Done): Promise<Answer> => {
        const inFunctions = done.events.length === 0 ? [] : functionWarnings(functions);
        const warnings = [...(await mentions(done)), ...inFunctions].map(findingOf);
        const told = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
        const body = Buffer.from(`{"data":${shows(done.state, command, call)}${told}}`);
        return { ...jsonBytesAnswer(200, body), position: done.position };
      };
      // The plan looks for mentions by itself.
      return change(deps, call, { name, command: isRehearsal(call) ? command : looked, render });
    },
  });
}

const oldName = (command: RenameCollection | RenameField): string =>
  'field' in command ? command.field : command.collection;

async function mentions({ before, state, events }: Done): Promise<Warning[]> {
  const renames = await runYielding(renamesBetween(before, state, collectionsChanged(events)));
  return runYielding(stillUsed(state, renames));
}
