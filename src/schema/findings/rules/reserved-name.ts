import { hasColumn } from '../../model/state.js';
import type { Observed, PlannedEvent, Rule } from '../model.js';
import { labelOf } from './common.js';
import { namesGiven } from './names-given.js';

/** Reserved in PostgreSQL 14 to 18, including words that may name functions or types. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column ' +
    'concurrently constraint create cross current_catalog current_date current_role current_schema current_time ' +
    'current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze ' +
    'from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit ' +
    'localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references ' +
    'returning right select session_user similar some symmetric system_user table tablesample then to trailing true union ' +
    'unique user using variadic verbose when where window with'
  ).split(' '),
);

export const reservedName: Rule = {
  code: 'RESERVED_NAME',
  level: 'note',
  standing: true,
  title: 'Reserved word as a name',
  what: 'The name of a table or column is a reserved word of SQL: `user`, `order`, `group`.',
  why: 'SQL must always quote it. Without quotes it is an error, or, like `user`, means something else.',
  safer: 'Use a name that is not reserved, such as the plural.',
  example: { unsafe: '{"collection": "order"}', safe: '{"collection": "orders"}' },
  field: ({ old, now }) =>
    old === undefined && hasColumn(now) && RESERVED.has(now.field)
      ? said(labelOf(now), { field: now.field })
      : undefined,
  event: (planned: PlannedEvent) =>
    namesGiven(planned).flatMap(({ name, place, label }) => (RESERVED.has(name) ? [said(label, place)] : [])),
};

const said = (label: string, place: Pick<Observed, 'collection' | 'field'>): Observed => ({
  message: `${label}: its name is a reserved word of SQL and must be quoted`,
  ...place,
});
