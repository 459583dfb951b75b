import { hasColumn, hasDefault } from '../../model/state.js';
import type { Rule } from '../model.js';

export const nullOnRequired: Rule = {
  code: 'NULL_ON_REQUIRED',
  level: 'warn',
  standing: true,
  title: 'ON DELETE action that always fails',
  what: 'ON DELETE sets the field of a foreign key to null or to a missing default, but the field is NOT NULL.',
  why: 'Every delete of a referenced row fails with an error about another table.',
  safer: 'Use `RESTRICT`, `CASCADE`, or a nullable field.',
  relation({ now }, { after }) {
    const field = after?.fields.get(now.many_field);
    if (now.schema === null || !hasColumn(field) || field.schema.is_nullable) return undefined;
    const { on_delete } = now.schema;
    if (on_delete !== 'SET NULL' && !(on_delete === 'SET DEFAULT' && !hasDefault(field))) return undefined;
    const { many_collection: table, many_field } = now;
    return { message: `${table}.${many_field}: ON DELETE ${on_delete}, but it is NOT NULL`, field: many_field };
  },
};
