/** Describes a change in a sentence. */
import { brief } from '../../../shared/brief.js';
import { valueText } from '../../../shared/changes/sentences.js';
import { type Item, type Member, isRename } from './items.js';
import { type Phrase, say } from './phrase.js';

/** Longer values are shown below the sentence. */
const SHORT = 40;

const shown = (value: unknown): string => brief(valueText(value), SHORT);

/** Quotes a user's text in a sentence. */
const quoted = (value: unknown): string => (typeof value === 'string' ? `“${shown(value)}”` : shown(value));

const isNothing = (value: unknown): boolean => value === null || value === undefined;

/** A short name in context: a field is shown below its collection. */
export const nameOf = ({ collection, field }: Pick<Item, 'collection' | 'field'>): string => field ?? collection;

/** The object as a whole, or the changed members. */
export function sentencesOf(item: Item, fieldsOfNew: (collection: string) => number): Phrase[] {
  if (item.how === 'made') return [madeSentence(item, fieldsOfNew)];
  if (item.how === 'removed') return [removedSentence(item)];
  return item.members.map((member) => memberSentence(item, member));
}

function madeSentence(item: Item, fieldsOfNew: (collection: string) => number): Phrase {
  const { part, document, restores } = item;
  const name = nameOf(item);
  const back = restores === null ? 'is new' : 'comes back from the trash';
  if (part === 'relations') return relationSentence(item, 'made');
  if (part === 'fields') return [...say`${name} ${''}`.slice(0, 1), ` ${back}, ${kindOfField(document)}`];
  if (isNothing(document?.['schema'])) return [{ name }, ` ${back}, a folder`];
  const fields = fieldsOfNew(item.collection);
  return [{ name }, ` ${back}, a table with ${fields} ${fields === 1 ? 'field' : 'fields'}`];
}

function kindOfField(document: Item['document']): string {
  const schema = document?.['schema'] as { is_nullable?: boolean; is_primary_key?: boolean } | null | undefined;
  const type = shown(document?.['type'] ?? 'unknown');
  if (isNothing(schema)) return `an alias (${type})`;
  if (schema?.is_primary_key === true) return `${type}, the primary key`;
  return schema?.is_nullable === false ? `${type}, required` : type;
}

function removedSentence(item: Item): Phrase {
  const name = nameOf(item);
  if (item.part === 'relations') return relationSentence(item, 'removed');
  if (isNothing(item.document?.['schema'])) return say`${name} goes; it has no data`;
  return item.part === 'fields' ? say`${name} goes, with its values` : say`${name} goes, with its fields and rows`;
}

function relationSentence({ collection, field, document }: Item, how: 'made' | 'removed'): Phrase {
  const to = document?.['one_collection'];
  const from = `${collection}.${field ?? ''}`;
  const goes = how === 'made' ? 'leads to' : 'leads no longer to';
  if (typeof to !== 'string') return [{ name: from }, ` ${goes} one of several collections`];
  const loose = how === 'made' && isNothing(document?.['schema']) ? ', without a foreign key' : '';
  return [{ name: from }, ` ${goes} `, { name: to }, loose];
}

type Say = (name: string, member: Member) => Phrase;

const becomes =
  (yes: string, no: string): Say =>
  (name, { after }) => [{ name }, ` ${after === true ? yes : no}`];

const limit =
  (what: string): Say =>
  (name, { before, after }) => {
    if (isNothing(after)) return [{ name }, ` has no limit of ${what} any more (it was ${shown(before)})`];
    if (isNothing(before)) return [{ name }, ` holds at most ${shown(after)} ${what}`];
    return [{ name }, ` holds at most ${shown(after)} ${what} instead of ${shown(before)}`];
  };

const action =
  (when: string): Say =>
  (name, { before, after }) => [
    { name },
    `: ${when}, ${shown(after).toLowerCase()}${isNothing(before) ? '' : ` instead of ${shown(before).toLowerCase()}`}`,
  ];

/** Texts that are better than "X changes from A to B", by member path. */
const SAID: Readonly<Record<string, Say>> = {
  'schema.is_nullable': becomes('may be empty', 'becomes required'),
  'schema.is_unique': becomes('becomes unique', 'may hold a value twice'),
  'schema.is_indexed': becomes('gets an index', 'loses its index'),
  'schema.is_primary_key': becomes('becomes the primary key', 'is no longer the primary key'),
  'schema.has_auto_increment': becomes('counts up by itself', 'no longer counts up by itself'),
  'schema.max_length': limit('characters'),
  'schema.numeric_precision': limit('digits'),
  'schema.on_delete': action('when what it leads to is deleted'),
  'schema.on_update': action('when the key that it leads to changes'),
  'meta.hidden': becomes('is hidden', 'is shown again'),
  'meta.required': becomes('has to be filled in by forms', 'may be left out of forms'),
  'meta.readonly': becomes('can only be read in forms', 'can be filled in by forms'),
  'meta.group': (name, { after }) =>
    isNothing(after) ? say`${name} leaves its group` : say`${name} moves into the group ${shown(after)}`,
  'schema.default_value': (name, { before, after }) => {
    if (isNothing(after)) return [{ name }, ` has no default any more (it was ${quoted(before)})`];
    return [{ name }, ` is ${quoted(after)} by default${isNothing(before) ? '' : ` instead of ${quoted(before)}`}`];
  },
  type: (name, { before, after }) => [{ name }, ` is ${shown(after)} instead of ${shown(before)}`],
  'schema.data_type': (name, { before, after }) => [
    { name },
    ` is stored as ${shown(after)} instead of ${shown(before)}`,
  ],
};

/** Labels for members with unclear names. */
const LABELS: Readonly<Record<string, string>> = { one_field: 'the field on its other side' };

/** `display template`: the last name of the path, as words. */
export const labelOf = ({ path }: Pick<Member, 'path'>): string => {
  const last = path.at(-1) ?? '';
  return LABELS[last] ?? last.replaceAll('_', ' ');
};

/** Long values and objects are shown below instead. */
export function memberSentence(item: Item, member: Member): Phrase {
  const name = item.part === 'relations' ? `${item.collection}.${item.field ?? ''}` : nameOf(item);
  if (isRename(member)) return [{ name: valueText(member.before) }, ' is called ', { name }, ' from now on'];
  const special = SAID[member.path.join('.')] ?? plainly;
  return special(name, member);
}

const plainly: Say = (name, member) => {
  const { before, after } = member;
  const label = labelOf(member);
  const isTold = isShort(before) && isShort(after);
  if (isNothing(after)) return [{ name }, ` has no ${label} any more`];
  if (isNothing(before)) return [{ name }, isTold ? `: ${label} becomes ${quoted(after)}` : ` gets ${label}`];
  return [{ name }, `: ${label} changes${isTold ? ` from ${quoted(before)} to ${quoted(after)}` : ''}`];
};

/** Short enough for the sentence. */
const isShort = (value: unknown): boolean =>
  isNothing(value) || (typeof value !== 'object' && valueText(value).length <= SHORT);
