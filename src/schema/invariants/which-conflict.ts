/** Decides which of two conflicting relations is reported. */
import { relationBody } from '../transition/context.js';
import { jsonEqual } from '../../kernel/json.js';
import type { Relation } from '../model/model.js';
import { type State, byName, getRelation } from '../model/state.js';

/** True for the relation that the change touches, or for the newer one. @param from before the change */
export function isConflicting(relation: Relation, other: Relation, from: State): boolean {
  const [mine, theirs] = [isChanged(relation, from), isChanged(other, from)];
  if (mine !== theirs) return mine;
  const [age, others] = [ageOf(relation), ageOf(other)];
  return age === others ? byName(nameOf(relation), nameOf(other)) > 0 : age > others;
}

/** `articles.author`, as in messages. */
export const nameOf = ({ many_collection, many_field }: Relation): string => `${many_collection}.${many_field}`;

function isChanged(relation: Relation, from: State): boolean {
  const before = getRelation(from, relation.many_collection, relation.many_field);
  if (before === undefined || before === relation) return before === undefined;
  return !jsonEqual(relationBody(before), relationBody(relation));
}

/** A relation that is not in the log yet has the id 0. */
const ageOf = ({ id }: Relation): number => (id === 0 ? Infinity : id);
