import {
  type Observation,
  type PlannedEvent,
  type PlannedObjectEvent,
  type Rule,
  type Level,
  type TableStatistics,
  typeKey,
  typesUsed,
} from '../model.js';
import { findAdded, changesMember, labelOf, hasCounter, locatedUse } from './common.js';
import { type ColumnField, getObject, hasColumn } from '../../model/state.js';
import { isSerial } from '../../model/extras.js';
import { isType, objectLabel } from '../../model/objects.js';
import type { SchemaObject } from '../../model/object-document.js';
import { splitQualifiedId } from '../../model/object-ids.js';
import { collectionsNeeding } from '../../model/order.js';
import { enumLabels, parseDefinition } from '../../sql-text/object-definition.js';
import { usersOfType } from '../../sql-text/object-table.js';
import { levelBySize, sizeText } from '../levels.js';
import { type LabelChanges, labelChanges } from '../../sql-text/types-and-sequences.js';

export const charType: Rule = {
  code: 'CHAR_TYPE',
  level: 'note',
  standing: true,
  title: 'char(n)',
  what: 'A field has the type `char(n)`.',
  why: 'PostgreSQL pads every value with blanks and ignores them in comparisons. The fixed length saves nothing.',
  safer: 'Use `string` (varchar) or `text`.',
  example: {
    unsafe: '{"field": "country", "type": "string", "schema": {"data_type": "character", "max_length": 2}}',
    safe: '{"field": "country", "type": "string", "schema": {"max_length": 2}}',
  },
  aliases: { squawk: ['ban-char-field'] },
  field: (change) =>
    changesMember(change, 'data_type') && change.now.schema?.data_type === 'character'
      ? { message: `${labelOf(change.now)} is char(${change.now.schema.max_length ?? 1})`, field: change.now.field }
      : undefined,
};

export const jsonNotJsonb: Rule = {
  code: 'JSON_NOT_JSONB',
  level: 'note',
  standing: true,
  title: 'json instead of jsonb',
  what: 'A column has the type `json`.',
  why: 'It stores the text as it was sent, including blanks and repeated keys. It cannot be compared or indexed, and `SELECT DISTINCT` fails.',
  safer: 'Use `jsonb`, unless the text itself matters.',
  example: {
    unsafe: '{"field": "options", "type": "json", "schema": {"data_type": "json"}}',
    safe: '{"field": "options", "type": "json", "schema": {"data_type": "jsonb"}}',
  },
  aliases: { strong_migrations: ['add_column_json'] },
  field: (change) =>
    changesMember(change, 'data_type') && change.now.schema?.data_type === 'json'
      ? { message: `${labelOf(change.now)} is json, not jsonb`, field: change.now.field }
      : undefined,
};

export const timeWithoutZone: Rule = {
  code: 'TIME_WITHOUT_ZONE',
  level: 'note',
  standing: true,
  title: 'Time without a zone',
  what: 'A field has the type `timestamp without time zone` (`dateTime`).',
  why: 'It does not identify a point in time: its meaning depends on the reader, and sessions in other time zones compare it wrongly.',
  safer:
    'Use `timestamp` (with time zone) for points in time. Use `dateTime` for calendar times whose time zone is known from another source.',
  example: { unsafe: '{"field": "sent_at", "type": "dateTime"}', safe: '{"field": "sent_at", "type": "timestamp"}' },
  aliases: { squawk: ['prefer-timestamptz'] },
  field: (change) =>
    changesMember(change, 'data_type') && change.now.schema?.data_type === 'timestamp without time zone'
      ? { message: `${labelOf(change.now)} is a timestamp without time zone`, field: change.now.field }
      : undefined,
};

export const localTimeDefault: Rule = {
  code: 'LOCAL_TIME_DEFAULT',
  level: 'warn',
  standing: true,
  title: 'Default that depends on the session’s time zone',
  what: 'A field of the type `timestamp without time zone` has the current time as its default.',
  why: 'PostgreSQL stores the local time of the inserting session. Applications in different time zones write different times.',
  safer: 'Use `timestamp` (with time zone) for times that a clock sets.',
  example: {
    unsafe: '{"field": "sent_at", "type": "dateTime", "schema": {"default_value": "now()"}}',
    safe: '{"field": "sent_at", "type": "timestamp", "schema": {"default_value": "now()"}}',
  },
  field: ({ old, now }) =>
    hasColumn(now) && isLocal(now) && !(hasColumn(old) && isLocal(old))
      ? { message: `${labelOf(now)} has no time zone, and its default is the current time`, field: now.field }
      : undefined,
};

const NOW: ReadonlySet<unknown> = new Set(['now()', 'CURRENT_TIMESTAMP']);

const isLocal = ({ schema }: ColumnField): boolean =>
  schema.data_type === 'timestamp without time zone' && NOW.has(schema.default_value);

export const serialColumn: Rule = {
  code: 'SERIAL_COLUMN',
  level: 'note',
  standing: true,
  title: 'Sequence instead of identity',
  what: 'A field gets its numbers from a default `nextval(…)`, as `serial` does, instead of from an identity column.',
  why: 'The sequence has its own owner and privileges. A role with INSERT on the table may lack USAGE on the sequence.',
  safer: 'Use `has_auto_increment`, which creates an identity column.',
  aliases: { squawk: ['prefer-identity'] },
  field: ({ old, now }) =>
    hasColumn(now) && isSerial(now.schema) && !(hasColumn(old) && isSerial(old.schema))
      ? { message: `${labelOf(now)} uses a sequence default instead of an identity column`, field: now.field }
      : undefined,
};

/** The largest value of a type. */
const LARGEST: ReadonlyMap<string, number> = new Map([
  ['smallint', 2 ** 15 - 1],
  ['integer', 2 ** 31 - 1],
]);

export const keyMayOverflow: Rule = {
  code: 'KEY_MAY_OVERFLOW',
  level: 'note',
  standing: true,
  title: 'Primary key may overflow',
  what: 'An auto-increment primary key is `integer` (2,147,483,647 values, including deleted and rolled back rows) or `smallint` (32,767).',
  why: 'When the numbers run out, inserts fail. A larger type rewrites the table and every table that references it.',
  safer: 'Use `bigInteger` if programs write the rows or the table may grow large.',
  levels:
    '`note` for a new table. Otherwise, the level depends on how many of the values the rows use, according to the statistics: `warn` from 10 percent, `danger` from 50 percent.',
  example: {
    unsafe: '{"field": "id", "type": "integer", "schema": {"is_primary_key": true, "has_auto_increment": true}}',
    safe: '{"field": "id", "type": "bigInteger", "schema": {"is_primary_key": true, "has_auto_increment": true}}',
  },
  aliases: { squawk: ['prefer-bigint-over-int', 'prefer-bigint-over-smallint'] },
  field({ old, now }, planned) {
    const largest = hasColumn(now) ? largestKey(now) : undefined;
    if (largest === undefined || planned.after?.collection.meta.singleton === true) return undefined;
    if (hasColumn(old) && largestKey(old) === largest) return undefined;
    const statistics = planned.batch.statistics(now.collection);
    return {
      message: `${labelOf(now)}: a key of type ${now.schema?.data_type} has ${largest.toLocaleString('en')} values`,
      field: now.field,
      level: levelOf(statistics, largest),
      ...(planned.batch.isNew(now.collection) ? {} : { statistics: statistics ?? null }),
    };
  },
};

const largestKey = (field: ColumnField): number | undefined =>
  field.schema.is_primary_key && hasCounter(field) ? LARGEST.get(field.schema.data_type) : undefined;

function levelOf(statistics: TableStatistics | undefined, largest: number): Level {
  const used = (statistics?.rows ?? 0) / largest;
  if (used >= 0.5) return 'danger';
  return used >= 0.1 || largest < 100_000 ? 'warn' : 'note';
}

export const typeNeeded: Rule = {
  code: 'TYPE_NEEDED',
  level: 'danger',
  title: 'Type missing from the database',
  what: 'A column or a domain uses a type or a collation that this database does not have and that the change does not create: a composite type, a range, or one of an extension.',
  why: 'PostgreSQL rejects the whole change until the type exists.',
  safer: 'Create the type, or install its extension, in this database before the change.',
  example: {
    unsafe: '{"type": "unknown", "schema": {"data_type": "address"}} where `CREATE TYPE address …` has not run',
  },
  event: (planned) =>
    typesUsed(planned.event, planned.batch.after).flatMap((use): Observation[] => {
      const facts = planned.batch.types.get(typeKey(use));
      if (facts === undefined) return [];
      const what = `${use.kind} ${JSON.stringify(use.text)}`;
      const fault = facts.isMissing
        ? 'does not exist in this database'
        : `contains the row type of ${JSON.stringify(facts.relation)}, a relation of another schema, and cannot be used`;
      return [{ message: `${locatedUse(use)} needs the ${what}, which ${fault}`, field: use.field ?? null }];
    }),
};

export const createsType: Rule = {
  code: 'CREATES_TYPE',
  level: 'note',
  title: 'Custom type',
  what: 'A table uses an enum, or a domain with a constraint. The change can also create one as an object.',
  why: 'Removing or reordering labels of an enum later rewrites every table that uses it. Adding a constraint to a domain later locks and reads every table that uses it.',
  safer: 'Use a text field with a check constraint, or a relation to a table of values.',
  aliases: { squawk: ['ban-create-domain-with-constraint', 'ban-alter-domain-with-add-constraint'] },
  event: (planned) =>
    findAdded(planned, 'needs').flatMap((need): Observation[] => {
      const { kind, name } = need;
      const isRuled = need.kind === 'domain' && (need.not_null === true || (need.checks ?? []).length > 0);
      if (kind !== 'enum' && !isRuled) return [];
      return [{ message: `${planned.event.collection} uses the ${kind} ${name}`, object: { kind, name } }];
    }),
  object({ old, now }, { found }) {
    const parsed = old === undefined && !found && isType(now) ? parseDefinition(now.definition) : '';
    const form = typeof parsed === 'string' ? undefined : parsed.type?.form;
    if (form !== 'enum' && form !== 'domain') return undefined;
    return { message: `create the ${form} ${now.id}`, object: { kind: now.kind, name: now.id } };
  },
};

/** Returns the labels that each enum gets or loses in the batch. An enum that the batch creates is not included. */
function changedLabels({ before, after }: PlannedEvent['batch']): { type: string; changes: LabelChanges }[] {
  if (before.objects === after.objects) return [];
  return [...after.objects.values()].flatMap(({ object }) => {
    const old = isType(object) ? getObject(before, object) : undefined;
    const changes = old === undefined || old === object ? null : labelChangesOf(old, object);
    return changes === null ? [] : [{ type: object.id, changes }];
  });
}

function labelChangesOf(old: SchemaObject, now: SchemaObject): LabelChanges | null {
  const [from, to] = [enumLabels(old.definition), enumLabels(now.definition)];
  return from === undefined || to === undefined ? null : labelChanges(from, to);
}

/** Observes the tables whose columns PostgreSQL converts, because ALTER TYPE cannot remove or reorder labels. */
export function observeConvertedEnum({ event, batch, old, found }: PlannedObjectEvent): Observation[] {
  const now = getObject(batch.after, event.subject);
  if (found || old === undefined || now === undefined || labelChangesOf(old, now) !== null) return [];
  if ([old, now].some(({ definition }) => enumLabels(definition) === undefined)) return [];
  const tables = new Set(usersOfType(batch.before, splitQualifiedId(old.id)).map(({ collection }) => collection));
  return [...tables].map((collection) => {
    const statistics = batch.statistics(collection);
    const size = statistics === undefined ? '' : ` (${sizeText(statistics)})`;
    return {
      message: `change the labels of ${objectLabel(now)}: PostgreSQL rewrites the table ${JSON.stringify(collection)} and locks it for reads and writes${size}`,
      level: levelBySize(statistics),
      statistics: statistics ?? null,
      collection,
      object: { kind: now.kind, name: now.id },
    };
  });
}

/** Returns a new label that occurs in the text, as a string of SQL or as a default value. */
function findNewLabel(batch: PlannedEvent['batch'], text: string): { type: string; label: string } | undefined {
  for (const { type, changes } of changedLabels(batch))
    for (const [label] of changes.added) {
      const isDefault = text.includes('default_value') && text.includes(JSON.stringify(label));
      if (isDefault || text.includes(`'${JSON.stringify(label).slice(1, -1).replaceAll("'", "''")}'`))
        return { type, label };
    }
  return undefined;
}

const labelMessage = (what: string, { type, label }: { type: string; label: string }): string =>
  `${what} uses the label ${JSON.stringify(label)} of type ${JSON.stringify(type)}, which the same change adds`;

export const enumLabelInSameTransaction: Rule = {
  code: 'ENUM_LABEL_IN_SAME_TRANSACTION',
  level: 'danger',
  title: 'New enum label used in the same change',
  what: 'The change adds a label to a type and uses it, for example as a default, in a constraint or in a view.',
  why: 'PostgreSQL does not allow the use of a new label in the transaction that adds it, unless the transaction also creates the type. It rejects the change.',
  safer: 'First add the label in a separate change.',
  example: { unsafe: 'a label that is added to `mood`, and a field with this label as its default, in one snapshot' },
  event({ event, batch, found }) {
    const used = found || event.type === 'field.deleted' ? undefined : findNewLabel(batch, JSON.stringify(event.data));
    if (used === undefined) return undefined;
    const { collection, field } = event;
    return { message: labelMessage(field === null ? collection : `${collection}.${field}`, used) };
  },
  object({ now }, { batch, found }) {
    const used = found || isType(now) ? undefined : findNewLabel(batch, JSON.stringify(now.definition));
    return used && { message: labelMessage(objectLabel(now), used), object: { kind: now.kind, name: now.id } };
  },
};

export const renamesEnumLabel: Rule = {
  code: 'RENAMES_ENUM_LABEL',
  level: 'warn',
  title: 'Enum label is renamed',
  what: 'A label of a type has another name at the same position, so the service renames it.',
  why: 'Rows with the former label have the new one. Programs and functions that contain the former label fail.',
  safer: 'If you do not want to rename a label, add the new label and keep the former one.',
  example: {
    unsafe: "the definition `CREATE TYPE mood AS ENUM ('glad', 'sad')` for a type with the labels happy and sad",
  },
  object({ old, now }, { found }) {
    const changes = found || old === undefined || !isType(now) ? null : labelChangesOf(old, now);
    return (changes?.renamed ?? []).map(([from, to]) => ({
      message: `rename the label ${JSON.stringify(from)} of type ${JSON.stringify(now.id)} to ${JSON.stringify(to)}`,
      object: { kind: now.kind, name: now.id },
    }))[0];
  },
};

export const dropsType: Rule = {
  code: 'DROPS_TYPE',
  level: 'note',
  title: 'Type is dropped',
  what: 'The change drops a type that no managed table uses.',
  why: 'Programs, and functions whose body is a string, can still use the type. They then fail. PostgreSQL rejects the change while an unmanaged table uses the type.',
  safer: 'First change the functions and programs that use it.',
  example: { unsafe: 'DELETE /objects/type/mood' },
  objectEvent({ event: { type, subject }, batch, found }) {
    if (type !== 'object.deleted' || !isType(subject) || found) return undefined;
    if (collectionsNeeding(batch.after, subject).length > 0) return undefined;
    return { message: `drop ${objectLabel(subject)}`, object: { kind: subject.kind, name: subject.id } };
  },
};

export const createsExtension: Rule = {
  code: 'CREATES_EXTENSION',
  level: 'note',
  title: 'Needs an extension',
  what: 'A column uses a type or function of an extension. The service installs the extension if it is missing and PostgreSQL marks it as trusted.',
  why: 'Every server that gets this schema needs the extension and its package on disk, including production.',
  safer: 'Install it on every server before the change.',
  event: (planned) =>
    findAdded(planned, 'needs').flatMap(({ kind, name }): Observation[] => {
      if (kind !== 'extension') return [];
      return [{ message: `${planned.event.collection} needs the extension ${name}`, object: { kind, name } }];
    }),
};
