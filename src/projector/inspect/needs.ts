/* Lists the objects that a table uses: those that a snapshot can create, and those that must already exist. */
import { quoteName } from '../../kernel/text.js';
import {
  type Need,
  type SequenceOptions,
  TRUSTED_EXTENSIONS,
  type TableExtras,
  type SequenceType,
  unusualOptions,
} from '../../schema/model/extras.js';
import { qualifiedId } from '../../schema/model/object-ids.js';
import { needLabel, needsOfNode } from '../../schema/model/order.js';
import { checkSqlText, type TextKind } from '../../schema/sql-text/check-sql-text.js';
import { type TextContext, textContextOfTable } from '../../schema/sql-text/expression.js';
import { textsOfDomain } from '../../schema/sql-text/texts.js';
import { byName, type CollectionNode, type State, extrasOf, getObject, locationKey } from '../../schema/model/state.js';
import type { CatalogSequence, Use, UsedType, CatalogObjects } from '../catalog/objects.js';
import type { CatalogTable } from '../catalog/model.js';

/** An object that a snapshot cannot represent, or can represent only in part. */
export interface Note {
  table: string | null;
  kind: string;
  name: string;
  /** A stable code such as `TRIGGER_NOT_REPRESENTED`. */
  code: string;
  message: string;
}

export interface RejectedAdoption {
  table: string;
  code: 'NAME_NOT_ALLOWED' | 'COLUMN_NOT_ALLOWED' | 'PARENT_NOT_ADOPTED' | 'BELONGS_TO_EXTENSION' | 'NOT_REPRESENTABLE';
  message: string;
}

/* The context in which one table is converted. */

export interface TableConversion {
  schema: string;
  table: CatalogTable;
  objects: CatalogObjects;
  state: State;
  /** Tables converted in the same operation, by name. */
  together: ReadonlyMap<string, CatalogTable>;
  /**
   * The collection in the current state. If several representations are equal, the conversion uses that of this
   * collection.
   */
  like?: CollectionNode | undefined;
  /** Finds members that equal those of `like` in a different spelling. The conversion then uses the spelling of `like`. */
  isEqual?: EqualityCheck | undefined;
  notes: Note[];
}

/** @param member the name of a member in differences, for example `schema.default_value` */
export type EqualityCheck = (member: string, field?: string) => boolean;

/** Records a note under the table's name. */
export function note({ table, notes }: TableConversion, content: Omit<Note, 'table'>): void {
  notes.push({ table: table.name, ...content });
}

/*
 * Handles existing SQL text that a request could not send. It stays in the database but is excluded from snapshots,
 * so that snapshots can be applied elsewhere.
 */

type Kind = NonNullable<TableExtras['unmanaged']>[number]['kind'];

interface Part {
  kind: Kind;
  name: string;
  text: string;
}

const TEXT_KINDS: { readonly [K in Kind]: TextKind } = {
  constraint: 'constraint',
  index: 'index',
  default: 'expression',
  generated: 'expression',
};

/**
 * Explains why a part of the table cannot be represented; null if it can. Parts that are already in the log are not
 * checked again.
 */
export function listFault(converting: TableConversion, { kind, name, text }: Part): string | null {
  const { like } = converting;
  if (isStoredDefinition(converting, kind, name)) return null;
  const left = extrasOf(like).unmanaged ?? [];
  if (left.some((each) => each.kind === kind && each.name === name)) return 'is left out of the log';
  return checkSqlText(TEXT_KINDS[kind], text, contextOf(converting));
}

/**
 * Checks whether the log stores this object in PostgreSQL's own words. It then stays that way even if a field or
 * relation could represent it.
 */
export const isStoredDefinition = ({ like }: Pick<TableConversion, 'like'>, kind: Kind, name: string): boolean =>
  like !== undefined && SAID[kind](like, name);

const hasName = (items: readonly { name: string }[] | undefined, name: string): boolean =>
  items?.some((each) => each.name === name) === true;

const SAID: { readonly [K in Kind]: (node: CollectionNode, name: string) => boolean } = {
  constraint: (node, name) => hasName(extrasOf(node).constraints, name),
  index: (node, name) => hasName(extrasOf(node).indexes, name),
  default: ({ fields }, name) => fields.get(name)?.schema?.extras?.default !== undefined,
  generated: ({ fields }, name) => (fields.get(name)?.schema?.generation_expression ?? null) !== null,
};

/** Caches the needs of a table, because all of its parts use them. */
const contexts = new WeakMap<TableConversion, TextContext>();

/** @param needs the needs found so far; the list may be incomplete */
function keepNeeds(converting: TableConversion, needs: readonly Need[]): TextContext {
  const { table: collection, columns } = converting.table;
  const around = textContextOfTable({ collection, columns, needs });
  contexts.set(converting, around);
  return around;
}

/** Returns the names that the SQL of the table may use. The table's needs are missing until `keepNeeds` was called. */
export const contextOf = (converting: TableConversion): TextContext =>
  contexts.get(converting) ?? keepNeeds(converting, []);

const usesOf = ({ objects, table }: TableConversion): readonly Use[] => objects.uses.get(table.name) ?? [];

/** Returns the needs in this order: extensions, collations, types (base types first), sequences. */
export function needsOf(converting: TableConversion): Need[] {
  const types = [...(converting.objects.types.get(converting.table.name) ?? [])].sort(
    (a, b) => b.depth - a.depth || byName(a.name, b.name),
  );
  const extensions = new Set([...types, ...usesOf(converting)].flatMap(({ extension }) => extension ?? []));
  const needs = [
    ...[...extensions].sort(byName).flatMap((name) => extensionNeed(name, converting)),
    ...collationNeeds(types, converting),
    ...types.flatMap((type) => typeNeed(type, converting)),
    ...sequenceNeeds(converting),
  ];
  const around = keepNeeds(converting, needs);
  const listed = needs.filter((need) => isListed(need, around, converting));
  keepNeeds(converting, listed);
  return listed;
}

/**
 * True if a snapshot can create the need. A domain whose constraints could not be sent must already exist, like other
 * types that no snapshot can create.
 */
function isListed(need: Need, around: TextContext, converting: TableConversion): boolean {
  if (need.kind !== 'domain' || isDescribed(need, converting)) return true;
  const faults = textsOfDomain(need, []).flatMap(({ kind, text }) => checkSqlText(kind, text, around) ?? []);
  if (faults.length === 0) return true;
  const message = `domain ${quoteName(need.name)} ${faults[0]}: create it before you apply a snapshot with this table elsewhere`;
  note(converting, { kind: 'type', name: need.name, code: 'TYPE_NEEDED', message });
  return false;
}

const isDescribed = (need: Need, { like }: TableConversion): boolean =>
  needsOfNode(like).some((each) => needLabel(each) === needLabel(need));

function extensionNeed(name: string, converting: TableConversion): Need[] {
  if (TRUSTED_EXTENSIONS.has(name)) return [{ kind: 'extension', name }];
  const message = `extension ${quoteName(name)}: create it before you apply a snapshot with this table elsewhere`;
  note(converting, { kind: 'extension', name, code: 'EXTENSION_NEEDED', message });
  return [];
}

const keyIn = (objects: CatalogObjects, { schema, name }: { schema: string; name: string }): string =>
  locationKey(objects.schemaOf(schema), name);

/** Returns the schema as a member, or nothing for the default schema. */
function schemaIn(objects: CatalogObjects, schema: string): { schema?: string } {
  const own = objects.schemaOf(schema);
  return own === undefined ? {} : { schema: own };
}

/** Returns the collations of the managed schemas. A collation of another schema must already exist. */
function collationNeeds(types: readonly UsedType[], converting: TableConversion): Need[] {
  const used = usesOf(converting)
    .filter(({ uses, extension }) => uses === 'collation' && extension === null)
    .map(({ schema, what }) => ({ schema, name: what }));
  const { objects } = converting;
  const own = [...used, ...types.flatMap((type) => (type.extension === null ? type.collations : []))].flatMap(
    ({ schema, name }) => (schema !== null && objects.isManaged(schema) ? [{ schema, name }] : []),
  );
  const byKey = new Map(own.map((each) => [keyIn(objects, each), each]));
  return [...byKey.keys()].sort(byName).flatMap((key): Need[] => {
    const [collation, at] = [objects.collations.get(key), byKey.get(key)];
    if (collation === undefined || at === undefined) return [];
    return [{ kind: 'collation', ...schemaIn(objects, at.schema), name: at.name, ...collation }];
  });
}

function typeNeed(type: UsedType, converting: TableConversion): Need[] {
  const { objects, state } = converting;
  const isHere = objects.isManaged(type.schema);
  const id = isHere ? qualifiedId({ schema: objects.schemaOf(type.schema), name: type.name }) : type.name;
  const isObject = isHere && getObject(state, { kind: 'type', id }) !== undefined;
  if (type.extension !== null || isObject) return [];
  if (objects.isManaged(type.schema) && type.kind === 'e') {
    return [{ kind: 'enum', ...schemaIn(objects, type.schema), name: type.name, labels: type.labels }];
  }
  if (objects.isManaged(type.schema) && type.kind === 'd') return [domainNeed(type, objects)];
  const message = `type ${quoteName(type.name)}: create it before you apply a snapshot with this table elsewhere`;
  note(converting, { kind: 'type', name: id, code: 'TYPE_NEEDED', message });
  return [];
}

function domainNeed(
  { name, schema, base, collation, notNull, default: value, checks }: UsedType,
  objects: CatalogObjects,
): Need {
  return {
    kind: 'domain',
    ...schemaIn(objects, schema),
    name,
    type: base ?? '',
    ...(collation === null ? {} : { collation }),
    ...(notNull ? { not_null: true as const } : {}),
    ...(value === null ? {} : { default: value }),
    ...(checks.length === 0 ? {} : { checks }),
  };
}

/** Returns the sequences that defaults use, and the sequences that a column of the table owns. */
function sequenceNeeds(converting: TableConversion): Need[] {
  const { objects, table } = converting;
  const used = usesOf(converting).flatMap(({ uses, schema, what: name }) =>
    uses === 'sequence' && schema !== null && objects.isManaged(schema) ? [keyIn(objects, { schema, name })] : [],
  );
  const owned = (objects.owned.get(table.name) ?? []).map(({ schema, name }) => locationKey(schema, name));
  return [...new Set([...used, ...owned])].sort(byName).flatMap((key): Need[] => {
    const sequence = objects.sequences.get(key);
    if (sequence === undefined || sequence.isIdentity) return [];
    const owner = sequence.owner?.table === table.name ? { owned_by: sequence.owner.column } : {};
    const { schema, name } = sequence;
    const at = schema === undefined ? {} : { schema };
    return [{ kind: 'sequence', ...at, name, ...owner, ...sequenceOptions(sequence, 'bigint') }];
  });
}

/**
 * Returns the options that differ from those that PostgreSQL uses by default.
 * @param type the default data type
 */
export const sequenceOptions = (sequence: CatalogSequence, type: string): SequenceOptions =>
  unusualOptions({ ...sequence, type: sequence.type as SequenceType }, type);

/**
 * Returns the functions, operators or collations that are used and that a snapshot cannot create. Null if there are
 * none.
 */
export function findUnmanagedUse(converting: TableConversion, kind: Use['kind'], name: string): string | null {
  const unmanaged = usesOf(converting).find(
    (use) => use.kind === kind && use.name === name && !isRepresented(use, converting),
  );
  if (unmanaged === undefined) return null;
  return unmanaged.uses === 'function' ? unmanaged.what : `${unmanaged.uses} ${unmanaged.what}`;
}

/**
 * True if a snapshot creates the used object. An extension's objects exist as soon as the extension is installed. An
 * identity sequence is created with its column, which may be later than other columns that use it.
 */
function isRepresented({ uses, schema, extension, what: name }: Use, { objects }: TableConversion): boolean {
  const isManaged = objects.isManaged(schema);
  if (uses !== 'sequence') return extension !== null || (uses === 'collation' && isManaged);
  return schema !== null && isManaged && objects.sequences.get(keyIn(objects, { schema, name }))?.isIdentity === false;
}
