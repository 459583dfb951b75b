/** Reports each broken rule of the merged result as a conflict at its location. */
import type { Json } from '../../kernel/json.js';
import type { Problem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { changeProblems } from '../invariants/index.js';
import { renameProblems } from '../invariants/renames.js';
import type { State } from '../model/state.js';
import { relationBody } from '../transition/context.js';
import { shown } from './documents.js';
import type { MergeConflict, MergePlace } from './model.js';
import type { Renamed } from './rename-sides.js';

/** @param state the result, by the names of `named` */
export function* invalidities(named: Renamed, state: State, touched: ReadonlySet<string>): Resumable<MergeConflict[]> {
  const problems = [
    ...renameProblems(state, named.renames, named.unwritten),
    ...(yield* changeProblems({ from: named.ours, to: state, touched })),
  ];
  return problems.map((problem) => conflictOf(named, problem));
}

function conflictOf(named: Renamed, problem: Problem): MergeConflict {
  const place = placeOf(problem);
  const documents = {
    base: documentAt(named.base, place),
    ours: documentAt(named.ours, place),
    theirs: documentAt(named.theirs, place),
  };
  return { kind: 'invalid', place, message: `together they are not valid: ${problem.message}`, ...shown(documents) };
}

function placeOf({ subject, collection = '', field }: Problem): MergePlace {
  const part = subject?.kind === 'relation' ? 'relations' : 'fields';
  return field === undefined ? { part: 'collections', collection } : { part, collection, field };
}

function documentAt({ collections }: State, { part, collection, field = '' }: MergePlace): Json | undefined {
  const node = collections.get(collection);
  if (part === 'collections') return node?.collection as unknown as Json;
  if (part === 'fields') return node?.fields.get(field) as unknown as Json;
  const relation = node?.relations.get(field);
  return relation && (relationBody(relation) as unknown as Json);
}
