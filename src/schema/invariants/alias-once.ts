/** An alias field shows the items of one relation, never of two. */
import { quoted } from '../../kernel/quoted.js';
import type { Relation } from '../model/model.js';
import { type Problem, about } from '../../kernel/problem.js';
import { type State, relationsTo } from '../model/state.js';
import { isConflicting, nameOf } from './which-conflict.js';

/** @param relations those that the change touches. Of two with the same alias, one is reported. */
export function shownOnceProblems(state: State, relations: readonly Relation[], from: State): Problem[] {
  const checked = new Map<string, ReadonlyMap<string, Relation>>();
  return relations.flatMap((relation) => {
    const { many_collection, many_field, one_collection: one, one_field: alias } = relation;
    if (one === null || alias === null) return [];
    let known = checked.get(one);
    if (known === undefined) checked.set(one, (known = firstByAlias(state, one, from)));
    const first = known.get(alias);
    if (first === undefined || first === relation) return [];
    const message = `${quoted(alias)} of ${quoted(one)} shows the relation ${quoted(nameOf(first))} already`;
    const member = ['one_field'];
    return [about({ kind: 'relation', collection: many_collection, field: many_field, member }, message)];
  });
}

/** Returns for each alias the relation that conflicts with the others that reference `one`. */
function firstByAlias(state: State, one: string, from: State): ReadonlyMap<string, Relation> {
  const first = new Map<string, Relation>();
  for (const relation of relationsTo(state, one)) {
    const { one_collection, one_field: alias } = relation;
    if (one_collection !== one || alias === null) continue;
    const other = first.get(alias);
    if (other === undefined || isConflicting(other, relation, from)) first.set(alias, relation);
  }
  return first;
}
