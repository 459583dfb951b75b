import type { Field } from '../../../schema/model/model.js';
import type { Drafted } from '../../draft/drafted.js';
import type { DraftEditor } from '../../draft/editor.js';

/** By `sort`; those without one come last in their order. */
export const inOrder = (fields: readonly Drafted<Field>[]): Drafted<Field>[] =>
  [...fields].sort((one, other) => placeOf(one) - placeOf(other) || 0);

const placeOf = ({ document: { meta } }: Drafted<Field>): number => meta.sort ?? Number.MAX_SAFE_INTEGER;

/** Changes as few numbers as possible. */
export function move(
  editor: DraftEditor,
  fields: readonly Drafted<Field>[],
  { from, to }: { from: number; to: number },
): void {
  const order = fields.map(({ document }) => document);
  const [moved] = order.splice(from, 1);
  if (moved === undefined) return;
  order.splice(to, 0, moved);
  for (const [index, { collection, field }] of order.entries()) {
    const now = editor.field(collection, field);
    if (now !== undefined && now.meta.sort !== index + 1)
      editor.put('fields', { ...now, meta: { ...now.meta, sort: index + 1 } });
  }
}
