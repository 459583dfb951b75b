/** Rules that hold in every state. They are checked on the result of a command before it becomes events. */
import { memberKey, type State, relationsTo } from '../model/state.js';
import { MAX_PROBLEMS, type Problem } from '../../kernel/problem.js';
import { sqlTextProblems } from '../sql-text/texts.js';
import type { Resumable } from '../../kernel/resumable.js';
import { collectionProblems, groupsOf, columnCountProblems, fieldProblems } from './columns.js';
import {
  indexNameProblems,
  implicitNameProblems,
  locationProblems,
  newNameProblems,
  referenceProblems,
} from './names.js';
import { needProblems } from './needs.js';
import { objectProblems } from './objects.js';
import { relationProblems, shownOnceProblems } from './relation.js';
import { unsupportedChanges } from './unsupported-changes.js';
import type { Relation } from '../model/model.js';

/** The states before and after a change, and the collections that it touches. */
export interface ProposedChange {
  from: State;
  to: State;
  touched: ReadonlySet<string>;
  /** Fields that are explicitly deleted and recreated under the same name. None by default. */
  isRecreated?: (collection: string, field: string) => boolean;
}

/** Returns all problems of a change, for diff, which proposes it, and for apply. */
export function* changeProblems({
  from,
  to,
  touched,
  isRecreated = () => false,
}: ProposedChange): Resumable<Problem[]> {
  const unsupported: Problem[] = [];
  const named: Problem[] = [];
  for (const name of touched) {
    unsupported.push(...unsupportedChanges({ from, to }, name, isRecreated));
    named.push(...newNameProblems({ from, to }, name));
    yield;
  }
  const broken = yield* invariantProblems(to, touched, from);
  broken.push(...objectProblems(from, to));
  return [...unsupported, ...named, ...broken, ...(yield* sqlTextProblems(from, to, touched))];
}

/**
 * Returns all problems of the `touched` collections and of relations that reference them. They name collection and
 * field, and the caller adds the path.
 * @param from the state before the change. Of two conflicting objects, the changed one is reported.
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
      problems.push(...collectionProblems(state, node, groups), ...fieldProblems(state, node));
      problems.push(...indexNameProblems(state, node), ...implicitNameProblems(state, node));
      problems.push(...locationProblems(state, node, from), ...referenceProblems(state, node));
    }
    // Each relation once, whichever end is visited first.
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
