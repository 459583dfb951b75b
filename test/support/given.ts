import { expect } from 'chai';
import type { SchemaEvent } from '../../src/schema/model/events.js';
import { evolve } from '../../src/schema/fold/evolve.js';
import { invariantProblems } from '../../src/schema/invariants/index.js';
import { type CommandOf, type InputOf, type OperationName, operations } from '../../src/schema/operations/index.js';
import type { Problem, ProblemCode, Result } from '../../src/kernel/problem.js';
import { type State, initialState } from '../../src/schema/model/state.js';
import { type Resumable, runToEnd, stepsTo } from '../../src/kernel/resumable.js';

/** Folds decided events as the log does: at the positions after that of the state. */
export function follow(state: State, events: readonly SchemaEvent[]): State {
  let next = state;
  for (const event of events) next = evolve(next, { ...event, position: next.position + 1 });
  return next;
}

/** Like the function above. Each intermediate state must be valid. */
export function followStrictly(state: State, events: readonly SchemaEvent[]): State {
  let next = state;
  for (const [index, event] of events.entries()) {
    next = evolve(next, { ...event, position: next.position + 1 });
    const problems = runToEnd(invariantProblems(next, next.collections.keys()));
    const shown = `after event ${index} (${event.type} ${event.collection}.${event.field}): ${JSON.stringify(problems)}`;
    expect(problems, shown).to.deep.equal([]);
  }
  return next;
}

/** The command of an input, or its problems. */
export function parsed<N extends OperationName>(name: N, input: unknown): Result<CommandOf<N>> {
  const { parse } = operations[name] as unknown as {
    parse(input: unknown): Result<CommandOf<N>> | Resumable<Result<CommandOf<N>>>;
  };
  return runToEnd(stepsTo(parse(input)));
}

/** Parses the input and decides immediately. */
export function attempt<N extends OperationName>(state: State, name: N, input: InputOf<N>): Result<SchemaEvent[]> {
  const operation = operations[name] as unknown as {
    decide(state: State, command: CommandOf<N>): Result<SchemaEvent[]> | Resumable<Result<SchemaEvent[]>>;
  };
  const command = parsed(name, input);
  return command.ok ? runToEnd(stepsTo(operation.decide(state, command.value))) : command;
}

/** The state after a command that must be accepted. */
export function accept<N extends OperationName>(state: State, name: N, input: InputOf<N>): State {
  const result = attempt(state, name, input);
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.problems)}`);
  return follow(state, result.value);
}

export function given(state: State = initialState()) {
  return {
    when<N extends OperationName>(name: N, input: InputOf<N>) {
      const result = attempt(state, name, input);
      return {
        /** `type collection[.field]` of each event, in order. */
        then(...expected: string[]): SchemaEvent[] {
          if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.problems)}`);
          followStrictly(state, result.value);
          const shown = result.value.map(
            ({ type, collection, field }) => `${type} ${collection}${field === null ? '' : `.${field}`}`,
          );
          expect(shown).to.deep.equal(expected);
          return result.value;
        },
        thenRefused(code: ProblemCode, path?: string): Problem[] {
          if (result.ok) throw new Error(`accepted: ${JSON.stringify(result.value)}`);
          expect(result.problems[0]).to.include({ code, ...(path === undefined ? {} : { path }) });
          return result.problems;
        },
      };
    },
  };
}

/** A table as a client would create it. */
export function table(collection: string, fields: object[] = [], more: object = {}) {
  return { body: { collection, schema: {}, fields, ...more }, concurrentIndexes: false };
}

export const folder = (collection: string, meta: object = {}) => ({
  body: { collection, schema: null, meta },
  concurrentIndexes: false,
});
