/** The shape that every operation has. */
import type { Draft } from '../transition/draft.js';
import type { LogEvent, NewEvent } from '../model/events.js';
import { proposalProblems } from './proposal.js';
import { type Places, locate } from '../../kernel/locate.js';
import { type Result, ok, refuse } from '../../kernel/problem.js';
import type { State } from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type InTrash, restoringTransition } from '../transition/restoring-transition.js';
import type { TransitionOptions } from '../transition/context.js';

/** `Decided`: the events that it decides for. */
export interface Operation<Name extends string, Input, Command, Decided extends LogEvent = NewEvent> {
  /** Imperative, kept with the events: `create-collection`. */
  name: Name;
  /** Untrusted input → command: shapes, types and names, whatever the schema is now. Large input takes steps. */
  parse(input: Input): Result<Command> | Resumable<Result<Command>>;
  /** Command × state → events, or why not. */
  decide(state: State, command: Command): Resumable<Result<Decided[]>>;
  /** The collections that it deletes, where the command says so by itself. */
  deletes?(command: Command): readonly string[];
}

export interface DraftOptions extends TransitionOptions {
  /** What else comes back from the trash, and becomes what the draft says; it fits, and has its identity there. */
  found?: readonly InTrash[];
}

/** Judges the draft and, if it is a valid schema, orders the events that lead to it. `places`: of the body that was sent. */
export function* decideDraft(
  state: State,
  draft: Draft,
  options: DraftOptions = {},
  places: Places = {},
): Resumable<Result<NewEvent[]>> {
  const desired = yield* draft.toState();
  const touched = draft.touched;
  const isRecreated = (collection: string, field: string) => draft.isRecreated(collection, field);
  const problems = yield* proposalProblems({ from: state, to: desired, touched, isRecreated });
  if (problems.length > 0) return refuse(...problems.map((problem) => locate(problem, places)));
  const { found = [], ...rest } = options;
  return ok(yield* restoringTransition({ from: state, to: desired, touched, options: rest }, found));
}
