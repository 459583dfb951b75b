/** What must hold in every state the log can lead to. Checked on the result of a command, before it becomes events. */
import { memberKey, type State, relationsTo } from '../model/state.js';
import { MAX_PROBLEMS, type Problem } from '../../kernel/problem.js';
import { sqlTextProblems } from '../sql-text/changed-texts.js';
import type { Resumable } from '../../kernel/resumable.js';
import { collectionProblems, groupsOf } from './collection.js';
import { columnCountProblems } from './column-count.js';
import { fieldProblems } from './field.js';
import { indexNameProblems } from './index-names.js';
import { needProblems } from './needs.js';
import { implicitNameProblems } from './implicit-names.js';
import { newNameProblems } from './new-names.js';
import { relationProblems } from './relation.js';
import { shownOnceProblems } from './alias-once.js';
import { unsupportedChanges } from './unsupported-changes.js';
import type { Relation } from '../model/model.js';

/** What a change is from and to, and which collections it touches. */
export interface ProposedChange {
  from: State;
  to: State;
  touched: ReadonlySet<string>;
  /** Fields that are asked to be deleted and created again under the same name; none by default. */
  isRecreated?: (collection: string, field: string) => boolean;
}

/** Everything that stands against a change, both for diff, which proposes it, and for apply. */
export function* changeProblems({
  from,
  to,
  touched,
  isRecreated = () => false,
}: ProposedChange): Resumable<Problem[]> {
  const unsupported = yield* unsupportedChanges(from, to, touched, isRecreated);
  const named = yield* newNameProblems(from, to, touched);
  const broken = yield* invariantProblems(to, touched, from);
  return [...unsupported, ...named, ...broken, ...(yield* sqlTextProblems(from, to, touched))];
}

/**
 * Everything wrong with the `touched` collections of `state` and the relations that point at them.
 * Problems name collection and field; a caller that knows where in the request they stand adds the path.
 * @param from the state before the change: of two that conflict, the changed one is told
 */
export function* invariantProblems(state: State, touched: Iterable<string>, from: State = state): Resumable<Problem[]> {
  const problems: Problem[] = [];
  const relations = new Map<string, Relation>();
  const groups = groupsOf(state);
  const names = new Set(touched);
  for (const name of names) {
    if (problems.length >= MAX_PROBLEMS) break;
    const node = state.collections.get(name);
    if (node !== undefined) {
      const wide = columnCountProblems(node);
      problems.push(...wide);
      if (wide.length > 0) continue;
      problems.push(...collectionProblems(state, node, groups), ...(yield* fieldProblems(state, node)));
      problems.push(...(yield* indexNameProblems(state, node)), ...(yield* implicitNameProblems(state, node)));
    }
    // Each once, whichever of its ends is looked at first.
    for (const relation of [...(node?.relations.values() ?? []), ...relationsTo(state, name)]) {
      const key = memberKey(relation.many_collection, relation.many_field);
      if (!relations.has(key)) problems.push(...relationProblems(state, relation, from));
      relations.set(key, relation);
    }
    yield;
  }
  problems.push(...needProblems(state, names, from), ...shownOnceProblems(state, [...relations.values()], from));
  return problems;
}
