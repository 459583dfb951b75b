/* Describes a change in a sentence. */
import { abbreviate } from '../../../shared/text.js';
import { valueText } from '../../../shared/changes/sentences.js';
import { KIND_NAMES } from '../../../shared/changes/messages.js';
import { dropContents } from '../../../shared/changes/total.js';
import type { Backfill } from '../../../../schema/model/backfill.js';
import { type Item, type Member, isRename } from './items.js';
import { messages, type Name, type Phrase } from './messages.js';

export type { Phrase } from './messages.js';

/** Plain text for screen readers and files. */
export const toPlainText = (phrase: Phrase): string =>
  phrase.map((part) => (typeof part === 'string' ? part : part.name)).join('');

/** Maximum length of a value in a sentence. Longer values are shown below the sentence. */
const SHORT = 40;

const abbreviateValue = (value: unknown): string => abbreviate(valueText(value), SHORT);

const quoted = (value: unknown): string =>
  typeof value === 'string' ? messages.quote(abbreviateValue(value)) : abbreviateValue(value);

const isNothing = (value: unknown): boolean => value === null || value === undefined;

export const nameOf = ({ collection, field }: Pick<Item, 'collection' | 'field'>): string => field ?? collection;

/** Returns the kind in words: `materialized view`. */
export const kindWords = ({ kind }: Pick<Item, 'kind'>): string =>
  KIND_NAMES[kind ?? ''] ?? (kind ?? '').replaceAll('_', ' ');

/** Returns one sentence for a created or deleted object, and otherwise one for each changed member. */
export function sentencesOf(item: Item, fieldsOfNew: (collection: string) => number): Phrase[] {
  if (item.mark === 'made') return [createdSentence(item, fieldsOfNew)];
  if (item.mark === 'removed') return [deletedSentence(item)];
  return item.members.map((member) => memberSentence(item, member));
}

/** Describes how a change fills rows. Null if it fills none. */
export function backfillSentence(item: Item): Phrase | null {
  const { backfill, mark } = item;
  if (backfill === null) return null;
  const { newField, field } = messages.backfill;
  const describe = mark === 'made' ? newField : field;
  return describe({ name: nameOf(item) }, sourcePhrase(backfill));
}

function sourcePhrase(backfill: Backfill): Phrase {
  const { expressions } = messages.backfill;
  if ('value' in backfill) return [quoted(backfill.value)];
  if (!('field' in backfill)) return [expressions[backfill.expression]];
  const name = { name: backfill.field };
  return 'expression' in backfill ? [name, ` ${expressions[backfill.expression]}`] : [name];
}

function createdSentence(item: Item, fieldsOfNew: (collection: string) => number): Phrase {
  const { part, document, restores } = item;
  const texts = messages.create;
  if (part === 'relations') return createdRelation(item);
  const name = { name: nameOf(item) };
  if (part === 'objects') return texts.object(name, kindWords(item));
  const describe = restores === null ? texts.add : texts.restore;
  if (part === 'fields') return describe(name, fieldKind(document));
  if (isNothing(document?.['schema'])) return describe(name, texts.folder);
  return describe(name, texts.table(fieldsOfNew(item.collection)));
}

function fieldKind(document: Item['document']): string {
  const schema = document?.['schema'] as { is_nullable?: boolean; is_primary_key?: boolean } | null | undefined;
  const type = abbreviateValue(document?.['type'] ?? 'unknown');
  const { alias, primaryKey, notNull } = messages.create;
  if (isNothing(schema)) return alias;
  if (schema?.is_primary_key === true) return primaryKey(type);
  return schema?.is_nullable === false ? notNull(type) : type;
}

function deletedSentence(item: Item): Phrase {
  const texts = messages.delete;
  if (item.part === 'relations') return deletedRelation(item);
  const name = { name: nameOf(item) };
  if (item.part === 'objects') return texts.object(name, kindWords(item));
  if (isNothing(item.document?.['schema'])) return texts.withoutData(name);
  return item.part === 'fields' ? texts.field(name) : texts.collection(name);
}

function createdRelation({ document, ...item }: Item): Phrase {
  const { relation, relationWithoutKey, relationToSeveral } = messages.create;
  const [from, to] = [{ name: pathOf(item) }, document?.['one_collection']];
  if (typeof to !== 'string') return relationToSeveral(from);
  const describe = isNothing(document?.['schema']) ? relationWithoutKey : relation;
  return describe(from, { name: to });
}

function deletedRelation({ document, ...item }: Item): Phrase {
  const { relation, relationToSeveral } = messages.delete;
  const [from, to] = [{ name: pathOf(item) }, document?.['one_collection']];
  return typeof to === 'string' ? relation(from, { name: to }) : relationToSeveral(from);
}

/** Returns the path of the field of a relation: `articles.author`. */
const pathOf = ({ collection, field }: Pick<Item, 'collection' | 'field'>): string => `${collection}.${field ?? ''}`;

type DescribeMember = (name: Name, member: Member) => Phrase;

/** Creates a phrase from a string in which `*` stands for the name. */
const template = (text: string, name: Name): Phrase => {
  const [start = '', end = ''] = text.split('*');
  return [start, name, end].filter((part) => part !== '');
};

const templateByValue =
  (key: keyof typeof messages.switches): DescribeMember =>
  (name, { after }) => {
    const [whenTrue = '', otherwise = ''] = messages.switches[key];
    return template(after === true ? whenTrue : otherwise, name);
  };

const beforeText = (value: unknown): string | null => (isNothing(value) ? null : abbreviateValue(value));

const action =
  (clause: string): DescribeMember =>
  (name, { before, after }) =>
    messages.change.action(name, clause, {
      after: abbreviateValue(after).toLowerCase(),
      before: beforeText(before)?.toLowerCase() ?? null,
    });

/** Sentences that are clearer than "Change the label of X from A to B". The key is the path of the member. */
const SENTENCES: Readonly<Record<string, DescribeMember>> = {
  'schema.is_nullable': templateByValue('nullable'),
  'schema.is_unique': templateByValue('unique'),
  'schema.is_indexed': templateByValue('indexed'),
  'schema.is_primary_key': templateByValue('primaryKey'),
  'schema.has_auto_increment': templateByValue('autoIncrement'),
  'schema.max_length': (name, { before, after }) =>
    isNothing(after)
      ? messages.change.unlimitCharacters(name, abbreviateValue(before))
      : messages.change.limitCharacters(name, { after: abbreviateValue(after), before: beforeText(before) }),
  'schema.numeric_precision': (name, { before, after }) =>
    isNothing(after)
      ? messages.change.unlimitDigits(name, abbreviateValue(before))
      : messages.change.limitDigits(name, { after: abbreviateValue(after), before: beforeText(before) }),
  'schema.on_delete': action('ON DELETE'),
  'schema.on_update': action('ON UPDATE'),
  'meta.hidden': templateByValue('hidden'),
  'meta.required': templateByValue('required'),
  'meta.readonly': templateByValue('readOnly'),
  'meta.group': (name, { after }) =>
    isNothing(after) ? messages.change.moveOut(name) : messages.change.moveInto(name, { name: abbreviateValue(after) }),
  'schema.default_value': (name, { before, after }) => {
    const former = isNothing(before) ? null : quoted(before);
    return isNothing(after)
      ? messages.change.removeDefault(name, former)
      : messages.change.setDefault(name, quoted(after), former);
  },
  type: (name, { before, after }) => messages.change.type(name, abbreviateValue(before), abbreviateValue(after)),
  'schema.data_type': (name, { before, after }) =>
    messages.change.columnType(name, abbreviateValue(before), abbreviateValue(after)),
};

/** Describes the change to a member. Objects and long values are omitted, because they are shown below the sentence. */
export function memberSentence(item: Item, member: Member): Phrase {
  const name = { name: item.part === 'relations' ? pathOf(item) : nameOf(item) };
  if (isRename(member)) return messages.change.rename({ name: valueText(member.before) }, name);
  const describe = SENTENCES[member.path.join('.')] ?? setSentence;
  return describe(name, member);
}

const setSentence: DescribeMember = (name, { path, before, after }) => {
  const texts = messages.change;
  const label = texts.label(path.at(-1) ?? '');
  const hasValues = isShort(before) && isShort(after);
  if (isNothing(after)) return texts.remove(label, name);
  if (isNothing(before)) return hasValues ? texts.setTo(label, name, quoted(after)) : texts.set(label, name);
  if (!hasValues) return texts.change(label, name);
  return texts.changeTo(label, name, { before: quoted(before), after: quoted(after) });
};

/** True if a value is short enough for the sentence. */
const isShort = (value: unknown): boolean =>
  isNothing(value) || (typeof value !== 'object' && valueText(value).length <= SHORT);

/* Suggests the title of a change request. */

const MOST = 3;
const LONGEST = 200;
/** The service's maximum length. */
export const LONGEST_REASON = 1000;

/** @param items the items to apply */
export function suggestTitle(items: readonly Item[]): string {
  const explained = dropContents(items);
  const sentences = explained.slice(0, MOST).map((item) => sentenceOf(item, items));
  const more = explained.length > MOST ? [messages.title.more(explained.length - MOST)] : [];
  return abbreviate([...sentences, ...more].join('. '), LONGEST);
}

function sentenceOf(item: Item, items: readonly Item[]): string {
  const [first] = sentencesOf(item, (collection) => countFields(items, collection));

  const text =
    first === undefined ? nameOf(item) : toPlainText(item.part === 'fields' ? withCollectionName(first, item) : first);
  const more = item.mark === 'changed' ? item.members.length - 1 : 0;
  return more > 0 ? messages.title.andMore(text, more) : text;
}

/** Adds the collection to the name of a field, because no heading precedes a title. */
function withCollectionName(phrase: Phrase, { collection }: Item): Phrase {
  const at = phrase.findIndex((part) => typeof part !== 'string');
  return phrase.map((part, index) =>
    index === at && typeof part !== 'string' ? { name: `${collection}.${part.name}` } : part,
  );
}

/** Counts are cached per list of items. */
const fieldCounts = new WeakMap<readonly Item[], ReadonlyMap<string, number>>();

/** Returns the number of new fields of a collection. */
export function countFields(items: readonly Item[], collection: string): number {
  const counts = fieldCounts.get(items) ?? countsOf(items);
  fieldCounts.set(items, counts);
  return counts.get(collection) ?? 0;
}

function countsOf(items: readonly Item[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { part, mark, collection } of items) {
    if (part === 'fields' && mark === 'made') counts.set(collection, (counts.get(collection) ?? 0) + 1);
  }
  return counts;
}
