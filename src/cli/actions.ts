/** Commands that begin with a verb: `users add`, `tokens list`. */
import { type ExitCode, type Invocation, UsageError } from './command.js';

export type Action = (invocation: Invocation) => Promise<ExitCode>;

/** Runs the action that the first positional names, with the others. */
export function runAction(invocation: Invocation, actions: Readonly<Record<string, Action>>): Promise<ExitCode> {
  const [verb, ...positionals] = invocation.positionals;
  const action = verb !== undefined && Object.hasOwn(actions, verb) ? actions[verb] : undefined;
  if (!action) throw new UsageError(`Say what to do: ${Object.keys(actions).join(', ')}.`);
  return action({ ...invocation, positionals });
}
