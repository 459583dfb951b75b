import { hasColumn, hasTable, extrasOf } from '../../model/state.js';
import type { Observation, PlannedEvent, Rule, FieldChange } from '../model.js';
import { labelOf, findAdded } from './common.js';
import { isRename } from '../../model/events.js';
import { MAX_NAME_BYTES } from '../../model/name-length.js';

/* Checks new names of tables and renamed columns. The rules for fields check names of new columns. */

interface NameFinding {
  name: string;
  label: string;
  /** The location with the new name, as in a diff. */
  location: Pick<Observation, 'collection' | 'field'>;
}

/** Returns the new names in an event. Empty for folders, aliases and all other events. */
function listNewNames({ event, after, batch }: PlannedEvent): NameFinding[] {
  const { collection } = event;
  switch (event.type) {
    case 'collection.created':
    case 'collection.adopted':
      return event.data.collection.schema === null ? [] : [nameTable(collection)];
    case 'collection.renamed':
      return hasTable(batch.after, event.data.to) ? [nameTable(event.data.to)] : [];
    case 'field.renamed': {
      const { to } = event.data;
      const renamed = { name: to, label: `${collection}.${to}`, location: { field: to } };
      return hasColumn(after?.fields.get(to)) ? [renamed] : [];
    }
    default:
      return [];
  }
}

const nameTable = (name: string): NameFinding => ({ name, label: name, location: { collection: name, field: null } });

export const nameLooksAlike: Rule = {
  code: 'NAME_LOOKS_ALIKE',
  level: 'warn',
  standing: true,
  title: 'Name that looks like another',
  what: 'A collection, a field or a constraint gets a name that differs from an existing one only in case or in Unicode normalization.',
  why: 'People and many tools cannot tell the two names apart, so they read or change the wrong one.',
  safer: 'Use the existing object, or choose a name with different letters.',
  example: { unsafe: '{"collection": "Articles"} next to "articles"', safe: '{"collection": "archived_articles"}' },
  field: ({ old, now }, { after }) => {
    if (old !== undefined || after === undefined) return undefined;
    const other = findAlike(after.fields, now.field);
    return other === undefined ? undefined : observeAlike(labelOf(now), other, { field: now.field });
  },
  event: (planned) => [...observeCollection(planned), ...observeField(planned), ...observeObjects(planned)],
};

function observeCollection({ event, batch }: PlannedEvent): Observation[] {
  const isNew = event.type === 'collection.created' || event.type === 'collection.adopted';
  const name = isNew ? event.collection : event.type === 'collection.renamed' ? event.data.to : undefined;
  const other = name === undefined ? undefined : findAlike(batch.after.collections, name);
  return name === undefined || other === undefined
    ? []
    : [observeAlike(name, other, { collection: name, field: null })];
}

/** Returns an observation per new field. */
function observeField({ event, after }: PlannedEvent): Observation[] {
  if (!isRename(event) || event.type !== 'field.renamed' || after === undefined) return [];
  const { to } = event.data;
  const other = findAlike(after.fields, to);
  return other === undefined ? [] : [observeAlike(`${event.collection}.${to}`, other, { field: to })];
}

function observeObjects(planned: PlannedEvent): Observation[] {
  return (['constraints', 'indexes'] as const).flatMap((part) => {
    const news = findAdded(planned, part);
    if (news.length === 0) return [];
    const all = new Map((extrasOf(planned.after)[part] ?? []).map((each) => [each.name, each]));
    const kind = part === 'indexes' ? 'index' : 'constraint';
    return news.flatMap(({ name }) => {
      const other = findAlike(all, name);
      return other === undefined ? [] : [observeAlike(`${kind} ${name}`, other, { object: { kind, name } })];
    });
  });
}

const observeAlike = (label: string, other: string, location: Partial<Observation>): Observation => ({
  message: `${label}: the name differs from ${JSON.stringify(other)} only in case or Unicode normalization`,
  ...location,
});

interface Named {
  keys(): Iterable<string>;
}

/** Existing names, keyed by their visual form. */
const seen = new WeakMap<Named, Map<string, string[]>>();

/** Returns another name that looks like `name`. */
function findAlike(names: Named, name: string): string | undefined {
  let byLook = seen.get(names);
  if (byLook === undefined) {
    byLook = new Map();
    for (const each of names.keys()) {
      const look = lookOf(each);
      byLook.set(look, [...(byLook.get(look) ?? []), each]);
    }
    seen.set(names, byLook);
  }
  return byLook.get(lookOf(name))?.find((other) => other !== name);
}

const lookOf = (name: string): string => name.normalize('NFC').toLowerCase().normalize('NFC');

/** Names that PostgreSQL accepts without quotes. */
const PLAIN = /^[\p{Ll}\p{Lo}_][\p{Ll}\p{Lo}\p{Nd}_$]*$/u;

export const nameNeedsQuotes: Rule = {
  code: 'NAME_NEEDS_QUOTES',
  level: 'note',
  standing: true,
  title: 'Name needs quotes',
  what: 'The name of a table or column contains capitals, blanks or other characters that SQL requires quotes for.',
  why: 'SQL without quotes reads `Articles` as `articles`. Without quotes, queries fail with "does not exist".',
  safer: 'Use lowercase letters, digits and underscores. Put display names into `translations`.',
  example: { unsafe: '{"collection": "BlogPosts"}', safe: '{"collection": "blog_posts"}' },
  aliases: { atlas: ['NM102', 'NM103'] },
  field: ({ old, now }) =>
    old === undefined && hasColumn(now) && !PLAIN.test(now.field)
      ? observe(labelOf(now), { field: now.field })
      : undefined,
  event: (planned) =>
    listNewNames(planned).flatMap(({ name, location, label }) => (PLAIN.test(name) ? [] : [observe(label, location)])),
};

const observe = (label: string, location: Pick<Observation, 'collection' | 'field'>): Observation => ({
  message: `${label}: SQL must quote its name`,
  ...location,
});

export const nameShortened: Rule = {
  code: 'NAME_SHORTENED',
  level: 'note',
  standing: true,
  title: 'Over-long names',
  what: 'The names of a table and a column are so long that the key or index named after both exceeds 63 bytes.',
  why: 'The service shortens the name and appends a hash. Error messages and monitoring show that name.',
  safer: 'Use shorter names. Put display names into `translations` and `note`.',
  aliases: { squawk: ['identifier-too-long'] },
  field: (change) =>
    namesLongIndex(change)
      ? {
          message: `${labelOf(change.now)}: the name of its key or index is shortened to 63 bytes`,
          field: change.now.field,
        }
      : undefined,
};

function namesLongIndex({ old, now }: FieldChange): boolean {
  if (!hasColumn(now) || !(now.schema.is_unique || now.schema.is_indexed)) return false;
  if (hasColumn(old) && (old.schema.is_unique || old.schema.is_indexed)) return false;
  return Buffer.byteLength(`${now.collection}_${now.field}_unique`) > MAX_NAME_BYTES;
}

/** Words that are reserved in PostgreSQL 14 to 18, including those that may name functions or types. */
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
      ? reservedNameFinding(labelOf(now), { field: now.field })
      : undefined,
  event: (planned: PlannedEvent) =>
    listNewNames(planned).flatMap(({ name, location, label }) =>
      RESERVED.has(name) ? [reservedNameFinding(label, location)] : [],
    ),
};

const reservedNameFinding = (label: string, location: Pick<Observation, 'collection' | 'field'>): Observation => ({
  message: `${label}: its name is a reserved word of SQL and must be quoted`,
  ...location,
});
