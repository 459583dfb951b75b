/** The interface of all operations. */
import type { Draft } from '../transition/draft.js';
import type { LogEvent, NewEvent } from '../model/events.js';
import { proposalProblems } from './proposal.js';
import { type Places, locate } from '../../kernel/locate.js';
import { type Result, ok, refuse } from '../../kernel/problem.js';
import type { State } from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type InTrash, restoringTransition } from '../transition/restoring-transition.js';
import type { TransitionOptions } from '../transition/context.js';

/** `Decided`: the type of its events. */
export interface Operation<Name extends string, Input, Command, Decided extends LogEvent = NewEvent> {
  /** Imperative, stored with the events: `create-collection`. */
  name: Name;
  /**
   * Converts untrusted input to a command. It checks shapes, types and names independently of the schema. Large input
   * takes steps.
   */
  parse(input: Input): Result<Command> | Resumable<Result<Command>>;
  /** Returns the events of a command, or its problems. */
  decide(state: State, command: Command): Resumable<Result<Decided[]>>;
  /** Returns the collections that it deletes, if the command names them. */
  deletes?(command: Command): readonly string[];
}

export interface DraftOptions extends TransitionOptions {
  /** Further objects that the draft restores from the trash, with their identities. */
  found?: readonly InTrash[];
}

/** Validates the draft and returns the ordered events. `places`: locations in the submitted body. */
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
