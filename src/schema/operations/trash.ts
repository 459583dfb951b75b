/* purge-trash, restore-collection, restore-field. */
import { ok, type Problem, type Result, invalidProblem, refuse, unknownMembers } from '../../kernel/problem.js';
import { type RestoreField, fieldRestoration } from '../transition/restore-field.js';
import { type Operation, decideDraft } from './operation.js';
import { type OtherEvent, trashSubject } from '../model/events.js';
import { isObject } from '../../kernel/json.js';
import { checkNewName, toNfc } from '../normal-form/names.js';
import { type RestoreCollection, planRestoration } from '../transition/restore-collection.js';

/* purge-trash: removes the trash entries of deletions permanently. */

export interface PurgeTrash {
  position: number;
  /**
   * The trash entry at the position, by the names before the deletion. Undefined if it was not read or does not exist.
   */
  entry?: { collection: string; field: string | null; kept_in: number | null } | undefined;
  /** The columns that the kept object must have, according to the log. */
  columns: readonly string[];
  /** True if the retention period is over. False if a user requested the purge. */
  expired: boolean;
}

export const purgeTrash: Operation<'purge-trash', PurgeTrash, PurgeTrash, OtherEvent> = {
  name: 'purge-trash',

  parse: (input) => ok(input),

  decide(_state, { position, entry, expired }) {
    if (entry === undefined) return ok([]);
    const { collection, field, kept_in } = entry;
    const data = { position, ...(expired && { expired }), ...(kept_in !== null && { kept_in }) };
    return ok([{ type: 'trash.purged', version: 1, collection, field, subject: trashSubject(position), data }]);
  },
};

/* restore-collection: restores a table from the trash with its rows, and related objects where possible. */

/** The options of a restore. */
export type RestoreRequest = Pick<RestoreCollection, 'as' | 'without'>;

const MEMBERS = new Set(['as', 'without']);

/** Reads the body. A missing body has no options. */
export function readRestoreRequest(body: unknown, kind: 'collection' | 'field'): Result<RestoreRequest> {
  if (body === undefined) return ok({ without: [] });
  if (!isObject(body))
    return refuse(invalidProblem([], 'the body must be an object, optionally with "as" and "without"'));
  const problems: Problem[] = unknownMembers(body, MEMBERS, []);
  const { without = [] } = body;
  const as = toNfc(body['as']);
  if (as !== undefined) problems.push(...checkNewName(kind, as, ['as']));
  const isList = Array.isArray(without) && without.every((each) => typeof each === 'string');
  if (!isList) problems.push(invalidProblem(['without'], 'without must be an array of names'));
  return problems.length > 0 ? refuse(...problems) : ok({ as: as as string | undefined, without: without as string[] });
}

export const restoreCollection: Operation<'restore-collection', RestoreCollection, RestoreCollection> = {
  name: 'restore-collection',

  parse: (input) => ok(input),

  *decide(state, command) {
    const restored = yield* planRestoration(state, command);
    if (!restored.ok) return restored;
    const { draft, restores, unwritten } = restored.value;
    if (unwritten.length > 0) return refuse(...unwritten.map(cannotRewriteProblem));
    return yield* decideDraft(state, draft, { restores });
  },
};

function cannotRewriteProblem({ collection, field }: { collection: string; field?: string }): Problem {
  const message = 'its SQL may contain its old name, and the service cannot rewrite it: restore it with the old name';
  return { code: 'IN_USE', message, collection, path: 'as', ...(field !== undefined && { field }) };
}

/* restore-field: restores a field from the trash with its values, and related objects where possible. */

export const restoreField: Operation<'restore-field', RestoreField, RestoreField> = {
  name: 'restore-field',

  parse: (input) => ok(input),

  *decide(state, command) {
    const restored = yield* fieldRestoration(state, command);
    if (!restored.ok) return restored;
    const { draft, restores } = restored.value;
    return yield* decideDraft(state, draft, { restores });
  },
};
