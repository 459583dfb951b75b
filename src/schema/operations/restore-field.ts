/** restore-field: restores a field from the trash with its values, and related objects where possible. */
import { ok } from '../../kernel/problem.js';
import { type RestoreField, fieldRestoration } from '../transition/restore-field.js';
import { type Operation, decideDraft } from './operation.js';

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
