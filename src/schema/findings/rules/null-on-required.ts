import { hasColumn, hasDefault } from '../../model/state.js';
import type { Rule } from '../model.js';

export const nullOnRequired: Rule = {
  code: 'NULL_ON_REQUIRED',
  level: 'warn',
  standing: true,
  title: 'A delete that can only fail',
  what: 'A foreign key sets its field null (or to a default that it does not have) when the row it points at is deleted, and the field can not be null.',
  why: 'Every delete of a row that something points at fails, with a message about another table.',
  safer: 'Say what is meant: `RESTRICT`, `CASCADE`, or a field that may be null.',
  relation({ now }, { after }) {
    const field = after?.fields.get(now.many_field);
    if (now.schema === null || !hasColumn(field) || field.schema.is_nullable) return undefined;
    const { on_delete } = now.schema;
    if (on_delete !== 'SET NULL' && !(on_delete === 'SET DEFAULT' && !hasDefault(field))) return undefined;
    const { many_collection: table, many_field } = now;
    return { message: `${table}.${many_field}: ON DELETE ${on_delete}, and it can't be null`, field: many_field };
  },
};
