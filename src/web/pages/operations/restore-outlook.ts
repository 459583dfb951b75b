/** What the plan of a restoration means for who decides about it. */
import type { Plan } from '../../service/types.js';

export interface RestoreOutlook {
  /** What comes back, in the service's words. */
  comes: string[];
  /** What doesn't. */
  stays: string[];
  /** Why PostgreSQL would not take it; none: it would. */
  refused: string[];
}

export function outlookOf({ accepted, errors = [], warnings }: Plan): RestoreOutlook {
  const comes = warnings.filter(({ code }) => code === 'DATA_RESTORED');
  const stays = warnings.filter(({ code }) => code !== 'DATA_RESTORED');
  const said = errors.map(({ message }) => message);
  return {
    comes: comes.map(({ message }) => message),
    stays: stays.map(({ message }) => message),
    refused: accepted || said.length > 0 ? said : ['PostgreSQL would not take it.'],
  };
}

const NAME = String.raw`("(?:[^"]|"")+"|[\w$]+)`;
const CONSTRAINT = new RegExp(`ADD CONSTRAINT ${NAME} (?:FOREIGN KEY|UNIQUE|CHECK)`, 'g');
const INDEX = new RegExp(`CREATE (?:UNIQUE )?INDEX ${NAME}`, 'g');
const NOT_NULL = /SET NOT NULL/;

/** Names that `without` may take, as far as the statements of the plan show them. */
export function choicesIn(plan: Plan | undefined): string[] {
  const found = (plan?.statements ?? []).flatMap(({ sql, collection, field }) => [
    ...[...sql.matchAll(CONSTRAINT), ...sql.matchAll(INDEX)].map(([, name = '']) => unquoted(name)),
    // As PostgreSQL 18 calls it.
    ...(NOT_NULL.test(sql) && field !== null ? [`${collection}_${field}_not_null`] : []),
  ]);
  return [...new Set(found)];
}

const unquoted = (name: string): string => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);
