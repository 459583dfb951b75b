import { placedUse } from './common.js';
import { typeKey, typesUsed } from '../types-used.js';
import type { Observed, Rule } from '../model.js';

export const typeNeeded: Rule = {
  code: 'TYPE_NEEDED',
  level: 'danger',
  title: 'A type that the database lacks',
  what: 'A column or a domain uses a type or a collation that this database does not have and that the change does not create: a composite type, a range, or one of an extension.',
  why: 'PostgreSQL rejects the whole change until the type exists.',
  safer: 'Create the type, or install its extension, in this database before the change.',
  example: {
    unsafe: '{"type": "unknown", "schema": {"data_type": "address"}} where `CREATE TYPE address …` has not run',
  },
  event: (planned) =>
    typesUsed(planned.event, planned.batch.after).flatMap((use): Observed[] => {
      const facts = planned.batch.types.get(typeKey(use));
      if (facts === undefined) return [];
      const what = `${use.kind} ${JSON.stringify(use.text)}`;
      const fault = facts.isMissing
        ? 'does not exist in this database'
        : `contains the row type of ${JSON.stringify(facts.relation)}, a relation of another schema, and cannot be used`;
      return [{ message: `${placedUse(use)} needs the ${what}, which ${fault}`, field: use.field ?? null }];
    }),
};
