/* Renames in SQL and templates, and renames objects with derived names. The fold does not do this, so the
   command does, and the event contains the result. */
import { invertMap } from '../../kernel/lists-and-maps.js';
import { type Names, type Renaming, replaceNodes } from '../fold/replace-names.js';
import { foreignKeyName } from '../model/name-length.js';
import type { ColumnExtras, Need, TableExtras } from '../model/extras.js';
import type { Field, Relation, TableSchema, Collection } from '../model/model.js';
import {
  type CollectionNode,
  type State,
  type StoredLocation,
  referencesTo,
  extrasOf,
  hasColumn,
  getRelation,
  relationsTo,
  createIndexedLookup,
  isElsewhere,
  locationKey,
  tableName,
  tableNameOf,
  withLocation,
} from '../model/state.js';
import { collectionsWithNeed, needKey, needsOfNode, ownerOf, schemaOfNeed } from '../model/order.js';
import { SEARCHED } from '../model/object-ids.js';
import { type TextNames, type WrittenName, asWritten, renamedText } from '../sql-text/compare-and-rename.js';
import type { TextKind } from '../sql-text/check-sql-text.js';
import { jsonEqual, type Json } from '../../kernel/json.js';
import type { Path } from '../../kernel/problem.js';

/* Renames fields in templates: `{{ title }}`, `{{ author.name }}`, `{{ item:headings.title }}`. */

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** Matches names that a template would parse differently, so that no template can contain them. */
const UNSAYABLE = /[.:{}()]|^\s|\s$/;

interface Templates {
  before: State;
  after: State;
  /** The function adds the names of collections that change. */
  touched: Set<string>;
}

/** Updates the names in all templates that use a renamed object, unless templates cannot contain the new name. */
function withTemplates({ before, after, touched }: Templates, renaming: Renaming): State {
  const names = 'collections' in renaming ? renaming.collections : renaming.fields;
  if ([...names.values()].some((name) => UNSAYABLE.test(name))) return after;
  const nameOf = 'collections' in renaming ? (name: string) => names.get(name) ?? name : (name: string) => name;
  const own = 'collections' in renaming ? [] : [renaming.collection];
  const former = new Map<string, CollectionNode>();
  for (const name of [...own, ...[...names.keys()].flatMap((word) => [...reaching(before.collections, word)])]) {
    const node = before.collections.get(name);
    if (node !== undefined) former.set(nameOf(name), node);
  }
  const written = (node: CollectionNode): CollectionNode => {
    const was = former.get(node.collection.collection) as CollectionNode;
    const collection = withPaths(node.collection, (path) =>
      renamedPath(before, renaming, { collection: was.collection.collection, path }),
    );
    return collection === node.collection ? node : { ...node, collection };
  };
  return replaceNodes(after, former.keys(), written, touched);
}

/**
 * Finds the collections with a path that leads through a field of that name in another collection, or into a collection
 * of that name.
 */
export const reaching = createIndexedLookup(({ collection: { meta } }: CollectionNode) => {
  const { display_template, preview_url, item_duplication_fields: copied } = meta;
  const templates = [display_template ?? '', preview_url ?? ''];
  const paths = templates.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, inner = '']) => inner.trim()));
  if (Array.isArray(copied)) paths.push(...copied.filter((each) => typeof each === 'string'));
  return new Set(paths.flatMap((path) => path.split('.').flatMap(wordsOf)));
});

/**
 * Returns the names in one segment of a path. The field in the first segment belongs to the collection itself, so it is
 * excluded.
 */
function wordsOf(segment: string, index: number): string[] {
  const [field = '', scope] = segment.split(':', 2);
  return [...(index > 0 ? [field] : []), ...(scope === undefined ? [] : [scope])];
}

function withPaths(collection: Collection, rename: (path: string) => string): Collection {
  const { meta } = collection;
  const inTemplate = (text: string | null) =>
    text &&
    text.replace(PLACEHOLDER, (whole, inner: string) => {
      const path = inner.trim();
      return whole.replace(path, () => rename(path));
    });
  const copied = meta.item_duplication_fields;
  const next = {
    display_template: inTemplate(meta.display_template),
    preview_url: inTemplate(meta.preview_url),
    item_duplication_fields: Array.isArray(copied)
      ? copied.map((each): Json => (typeof each === 'string' && each.includes('.') ? rename(each) : each))
      : copied,
  };
  const isOther =
    JSON.stringify(Object.values(next)) !== JSON.stringify([meta.display_template, meta.preview_url, copied]);
  return isOther ? { ...collection, meta: { ...meta, ...next } } : collection;
}

interface FieldPath {
  collection: string;
  path: string;
}

/** Renames in a path that leads through relations. `item:headings.title` selects one of several collections. */
function renamedPath(before: State, renaming: Renaming, { collection, path }: FieldPath): string {
  let at: string | undefined = collection;
  // Field names may contain dots.
  if (before.collections.get(at)?.fields.has(path) === true) return renamedSegment(renaming, at, path);
  const segments = path.split('.').map((segment) => {
    const [field = '', scope] = segment.split(':', 2);
    const named = at === undefined ? field : renamedSegment(renaming, at, field);
    at = at === undefined ? undefined : targetOf(before, { collection: at, field, scope });
    if (scope === undefined) return named;
    return `${named}:${'collections' in renaming ? (renaming.collections.get(scope) ?? scope) : scope}`;
  });
  return segments.join('.');
}

function renamedSegment(renaming: Renaming, collection: string, field: string): string {
  if ('collections' in renaming || renaming.collection !== collection) return field;
  return renaming.fields.get(field) ?? field;
}

/** Returns the collection that a field references. */
function targetOf(
  state: State,
  { collection, field, scope }: { collection: string; field: string; scope: string | undefined },
): string | undefined {
  const held = getRelation(state, collection, field);
  if (held !== undefined) return held.one_collection ?? scope;
  return relationsTo(state, collection).find((each) => each.one_field === field && each.one_collection === collection)
    ?.many_collection;
}

/** SQL that probably mentions the old name and cannot be rewritten. */
export interface UnwrittenText {
  collection: string;
  field?: string;
  /** The path of the text within the document. */
  path: Path;
}

export interface Rewritten {
  state: State;
  /** Names of the collections that change. */
  touched: Set<string>;
  unwritten: UnwrittenText[];
}

/* Moves tables to other locations. */

/** The new names of sequences, by their former `needKey`. */
type MovedSequences = ReadonlyMap<string, WrittenName>;

interface Moved {
  state: State;
  sequences: MovedSequences;
  /** The former names of the collections that use these sequences. */
  users: ReadonlySet<string>;
}

/** Returns the state with the new locations. PostgreSQL moves the sequences that columns own together with the table. */
function withLocations(before: State, after: State, renaming: Renaming, touched: Set<string>): Moved {
  if (!('collections' in renaming) || renaming.locations === undefined || renaming.locations.size === 0)
    return { state: after, sequences: new Map(), users: new Set() };
  const { collections, locations } = renaming;
  const { sequences, users } = findMovedSequences(before, invertMap(collections), locations);
  const nameOf = lookUp(collections);
  const state = replaceNodes(
    after,
    new Set([...locations.keys(), ...[...users].map(nameOf)]),
    (node) => {
      const { schema, collection: name } = node.collection;
      const at = locations.get(name);
      if (schema === null) return node;
      const located = at === undefined ? schema : withLocation(schema, at);
      return { ...node, collection: { ...node.collection, schema: withSequences(located, sequences) } };
    },
    touched,
  );
  return { state, sequences, users };
}

function findMovedSequences(
  before: State,
  former: Names,
  locations: ReadonlyMap<string, StoredLocation>,
): Omit<Moved, 'state'> {
  const sequences = new Map<string, WrittenName>();
  const users = new Set<string>();
  for (const [name, { schema }] of locations) {
    for (const need of needsOfNode(before.collections.get(former.get(name) ?? name))) {
      if (ownerOf(need) === undefined || schemaOfNeed(need) === schema) continue;
      sequences.set(needKey(need), { schema, name: need.name });
      for (const user of collectionsWithNeed(before, need)) users.add(user);
    }
  }
  return { sequences, users };
}

function withSequences(schema: TableSchema, sequences: MovedSequences): TableSchema {
  const { extras } = schema;
  if (extras?.needs === undefined || sequences.size === 0) return schema;
  const needs = extras.needs.map((need): Need => {
    const to = need.kind === 'sequence' ? sequences.get(needKey(need)) : undefined;
    if (to === undefined || need.kind !== 'sequence') return need;
    const { schema: _, ...sequence } = need;
    return to.schema === undefined ? sequence : { ...sequence, schema: to.schema };
  });
  return { ...schema, extras: { ...extras, needs } };
}

/**
 * Returns the state after the SQL and templates were renamed, and the locations that cannot be rewritten.
 * @param before the state with the old names
 * @param named the state with the new names, as the fold derives it
 */
export function withTexts(before: State, named: State, renaming: Renaming): Rewritten {
  const unwritten: UnwrittenText[] = [];
  const nameOf = 'collections' in renaming ? lookUp(renaming.collections) : same;
  const old = 'collections' in renaming ? [...renaming.collections.keys()] : [renaming.collection];
  const touched = new Set<string>();
  const { state: after, sequences, users } = withLocations(before, named, renaming, touched);
  const former = new Map<string, CollectionNode>();
  for (const name of [...old, ...old.flatMap((each) => [...referencesTo(before, each)]), ...users]) {
    const node = before.collections.get(name);
    if (node !== undefined) former.set(nameOf(name), node);
  }
  const rewriting = { renaming, unwritten, before, after, sequences };
  const written = (node: CollectionNode): CollectionNode => {
    const was = former.get(node.collection.collection) as CollectionNode;
    return withKeyNames(withSql({ ...rewriting, was, node }), renaming, was);
  };
  const state = replaceNodes(after, former.keys(), written, touched);
  return { state: withTemplates({ before, after: state, touched }, renaming), touched, unwritten };
}

const same = (name: string): string => name;

const lookUp =
  (names: Names) =>
  (name: string): string =>
    names.get(name) ?? name;

interface TextRewrite {
  /** The collection with the old names. */
  was: CollectionNode;
  node: CollectionNode;
  renaming: Renaming;
  unwritten: UnwrittenText[];
  before: State;
  /** The state with the new names and locations, before texts are rewritten. */
  after: State;
  sequences: MovedSequences;
}

function withSql(rewriting: TextRewrite): CollectionNode {
  const { node, was } = rewriting;
  const rewrite = rewriterOf(rewriting);
  const schema = node.collection.schema && withDefinitions(node.collection.schema, was, rewrite);
  const fields = new Map<string, Field>();
  let isOther = schema !== node.collection.schema;
  for (const [name, field] of node.fields) {
    const next = withExpressions(field, (kind, text, path) => rewrite({ kind, text, path, field: name }));
    isOther ||= next !== field;
    fields.set(name, next);
  }
  return isOther ? { ...node, collection: { ...node.collection, schema }, fields } : node;
}

interface Text {
  kind: TextKind;
  text: string;
  path: Path;
  field?: string;
  /** The former name of the table that a foreign key references. */
  references?: string | undefined;
}

type Rewrite = (text: Text) => string;

function rewriterOf(rewriting: TextRewrite): Rewrite {
  const { was, node, unwritten } = rewriting;
  const { collection } = node.collection;
  const isColumn = (name: string): boolean => hasColumn(was.fields.get(name));
  const mentions = mentionOf(namesIn(rewriting));
  return ({ kind, text, path, field, references }) => {
    if (!mentions(text)) return text;
    const written = renamedText(kind, text, { isColumn, ...namesFor(rewriting, references) });
    if (written !== null) return written;
    unwritten.push({ collection, ...(field !== undefined && { field }), path });
    return text;
  };
}

/** Returns the former names that a text may contain: of collections and their tables, of sequences, or of fields. */
function namesIn({ before, renaming, sequences }: TextRewrite): string[] {
  if (!('collections' in renaming)) return [...renaming.fields.keys()];
  const names = [...renaming.collections.keys()];
  return [
    ...names,
    ...names.map((name) => tableName(before, name)),
    ...[...sequences.values()].map(({ name }) => name),
  ];
}

function namesFor(rewriting: TextRewrite, references: string | undefined): Omit<TextNames, 'isColumn'> {
  const { renaming, was, node, before, after, sequences } = rewriting;
  if ('collections' in renaming) {
    // A table outside the default schema keeps its name when its collection is renamed, unless it moves.
    const table = (name: string) => (name === tableNameOf(was) ? tableNameOf(node) : name);
    const renamed = lookUp(renaming.collections);
    const target = (name: string, schema?: string): WrittenName =>
      references === undefined
        ? { name: schema === undefined ? renamed(name) : name, schema }
        : movedTarget({ before, after }, { references, to: renamed(references), written: { name, schema } });
    const isMoved = isElsewhere(was.collection, node.collection);
    const sequence = sequences.size === 0 ? undefined : (key: string) => sequenceAt(sequences, key);
    return { table, column: same, target, targetColumn: same, sequence, isMoved };
  }
  const { collection } = renaming;
  const names = lookUp(renaming.fields);
  const own = was.collection.collection;
  return {
    table: same,
    column: own === collection ? names : same,
    target: (name, schema) => ({ name, schema }),
    targetColumn: references === collection ? names : same,
  };
}

interface WrittenTarget {
  /** The former and the new name of the collection. */
  references: string;
  to: string;
  written: WrittenName;
}

/** Returns the name of the table that a foreign key references. A table that does not move keeps its schema as written. */
function movedTarget({ before, after }: Record<'before' | 'after', State>, target: WrittenTarget): WrittenName {
  const { references, to, written } = target;
  const [old, now] = [before.collections.get(references), after.collections.get(to)];
  if (old === undefined || now === undefined || now.collection.schema === null) return written;
  if (!isElsewhere(old.collection, now.collection)) return { ...written, name: tableNameOf(now) };
  return asWritten(now.collection.schema.schema, tableNameOf(now));
}

/** Returns the new name of a sequence. PostgreSQL omits the schema public from names. */
function sequenceAt(sequences: MovedSequences, key: string): WrittenName | undefined {
  const to = sequences.get(key) ?? sequences.get(locationKey(SEARCHED, key));
  return to && asWritten(to.schema, to.name);
}

/**
 * Returns a fast test for texts that may mention a name, because most texts need no parsing. The test allows for upper
 * case without quotes, and for escapes.
 */
function mentionOf(names: readonly string[]): (text: string) => boolean {
  const words = names.map((name) => name.replaceAll('"', '""').toLowerCase());
  return (text) => {
    const small = text.toLowerCase();
    return small.includes('u&"') || words.some((word) => small.includes(word));
  };
}

function withDefinitions(schema: TableSchema, was: CollectionNode, rewrite: Rewrite): TableSchema {
  const { extras } = schema;
  if (extras === undefined) return schema;
  const { primary_key: key, constraints, indexes, partition_by: by } = extras;
  const former = new Map(extrasOf(was).constraints?.map((each) => [each.name, each.references]));
  const written: RewriteDefinition = (kind, each, path) =>
    each.definition === undefined
      ? each
      : { ...each, definition: rewrite({ kind, text: each.definition, path, references: former.get(each.name) }) };
  const all = <T extends Definition>(kind: TextKind, list: T[], member: string): T[] =>
    list.map((each, index) => written(kind, each, [...EXTRAS, member, index, 'definition']));
  const next: TableExtras = {
    ...extras,
    ...(key && { primary_key: written('constraint', key, [...EXTRAS, 'primary_key', 'definition']) }),
    ...(constraints && { constraints: all('constraint', constraints, 'constraints') }),
    ...(indexes && { indexes: all('index', indexes, 'indexes') }),
    ...(by && { partition_by: rewrite({ kind: 'partition key', text: by, path: [...EXTRAS, 'partition_by'] }) }),
  };
  return jsonEqual(next, extras) ? schema : { ...schema, extras: next };
}

const EXTRAS: Path = ['schema', 'extras'];

interface Definition {
  name: string;
  definition?: string;
}

type RewriteDefinition = <T extends Definition>(kind: TextKind, each: T, path: Path) => T;

function withExpressions(field: Field, rewrite: (kind: TextKind, text: string, path: Path) => string): Field {
  const { schema } = field;
  if (schema === null) return field;
  const generated = schema.generation_expression;
  const now = generated === null ? null : rewrite('expression', generated, ['schema', 'generation_expression']);
  const extras = schema.extras && withDefault(schema.extras, (text) => rewrite('expression', text, DEFAULT));
  if (now === generated && extras === schema.extras) return field;
  return { ...field, schema: { ...schema, generation_expression: now, ...(extras && { extras }) } };
}

const DEFAULT: Path = ['schema', 'extras', 'default'];

function withDefault(extras: ColumnExtras, rewrite: (text: string) => string): ColumnExtras {
  const value = extras.default === undefined ? undefined : rewrite(extras.default);
  return value === undefined || value === extras.default ? extras : { ...extras, default: value };
}

/** Renames foreign keys with a default name, which is derived from table and column. */
function withKeyNames(node: CollectionNode, renaming: Renaming, was: CollectionNode): CollectionNode {
  const formerField = formerFieldIn(renaming, node);
  let isOther = false;
  const relations = new Map<string, Relation>();
  for (const [name, relation] of node.relations) {
    const { schema, many_collection, many_field } = relation;
    const former = foreignKeyName(was.collection.collection, formerField(name));
    const next = foreignKeyName(many_collection, many_field);
    const follows = schema?.constraint_name === former && former !== next;
    isOther ||= follows;
    relations.set(name, follows ? { ...relation, schema: { ...schema, constraint_name: next } } : relation);
  }
  return isOther ? { ...node, relations } : node;
}

function formerFieldIn(renaming: Renaming, { collection }: CollectionNode): (name: string) => string {
  if ('collections' in renaming || renaming.collection !== collection.collection) return same;
  return lookUp(invertMap(renaming.fields));
}
