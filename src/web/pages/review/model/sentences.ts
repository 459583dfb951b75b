/* Describes a change in a sentence. */
import { addArticle } from '../../../../kernel/text.js';
import { abbreviate, counted } from '../../../shared/text.js';
import { valueText } from '../../../shared/changes/sentences.js';
import { dropContents } from '../../../shared/changes/total.js';
import type { Backfill } from '../../../../schema/model/backfill.js';
import { type Item, type Member, isRename } from './items.js';

/** A sentence with names. Names are highlighted and always rendered as text. */
export type Phrase = readonly (string | { name: string })[];

/** Creates a phrase: `say\`${name} becomes required\``. Interpolated values are names. */
function say(texts: TemplateStringsArray, ...names: readonly string[]): Phrase {
  return texts.flatMap((text, index) => {
    const name = names[index];
    return [...(text === '' ? [] : [text]), ...(name === undefined ? [] : [{ name }])];
  });
}

/** Plain text for screen readers and files. */
export const toPlainText = (phrase: Phrase): string =>
  phrase.map((part) => (typeof part === 'string' ? part : part.name)).join('');

/** Maximum length of a value in a sentence. Longer values are shown below the sentence. */
const SHORT = 40;

const abbreviateValue = (value: unknown): string => abbreviate(valueText(value), SHORT);

const quoted = (value: unknown): string =>
  typeof value === 'string' ? `“${abbreviateValue(value)}”` : abbreviateValue(value);

const isNothing = (value: unknown): boolean => value === null || value === undefined;

export const nameOf = ({ collection, field }: Pick<Item, 'collection' | 'field'>): string => field ?? collection;

/** Returns the kind in words: `materialized view`. */
export const kindWords = ({ kind }: Pick<Item, 'kind'>): string => (kind ?? '').replaceAll('_', ' ');

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
  const rows = mark === 'made' ? 'in existing rows' : 'in rows without a value';
  return [...say`Fill ${nameOf(item)}`, ` ${rows} with `, ...sourcePhrase(backfill)];
}

function sourcePhrase(backfill: Backfill): Phrase {
  if ('value' in backfill) return [quoted(backfill.value)];
  if (!('field' in backfill)) return [SOURCES[backfill.expression]];
  const name = { name: backfill.field };
  return 'expression' in backfill ? [name, ` ${SOURCES[backfill.expression]}`] : [name];
}

const SOURCES = {
  now: 'the current time',
  gen_random_uuid: 'new UUIDs',
  lower: 'in lower case',
  upper: 'in upper case',
  trim: 'without surrounding spaces',
} as const;

function createdSentence(item: Item, fieldsOfNew: (collection: string) => number): Phrase {
  const { part, document, restores } = item;
  if (part === 'relations') return relationSentence(item, 'Add');
  const name = { name: nameOf(item) };
  if (part === 'objects') return ['Add ', name, `, ${addArticle(kindWords(item))}`];
  const start = restores === null ? ['Add ', name] : ['Restore ', name, ' from the trash'];
  if (part === 'fields') return [...start, `, ${fieldKind(document)}`];
  if (isNothing(document?.['schema'])) return [...start, ', a folder'];
  const fields = fieldsOfNew(item.collection);
  return [...start, `, a table with ${fields} ${fields === 1 ? 'field' : 'fields'}`];
}

function fieldKind(document: Item['document']): string {
  const schema = document?.['schema'] as { is_nullable?: boolean; is_primary_key?: boolean } | null | undefined;
  const type = abbreviateValue(document?.['type'] ?? 'unknown');
  if (isNothing(schema)) return `an alias (${type})`;
  if (schema?.is_primary_key === true) return `${type}, the primary key`;
  return schema?.is_nullable === false ? `${type}, not null` : type;
}

function deletedSentence(item: Item): Phrase {
  const name = nameOf(item);
  if (item.part === 'relations') return relationSentence(item, 'Delete');
  if (item.part === 'objects') return [...say`Delete ${name}`, `, ${addArticle(kindWords(item))}`];
  if (isNothing(item.document?.['schema'])) return say`Delete ${name}, which has no data`;
  return item.part === 'fields' ? say`Delete ${name} and its values` : say`Delete ${name} with its fields and rows`;
}

function relationSentence({ collection, field, document }: Item, verb: 'Add' | 'Delete'): Phrase {
  const to = document?.['one_collection'];
  const start: Phrase = [`${verb} the relation from `, { name: `${collection}.${field ?? ''}` }];
  if (typeof to !== 'string') return [...start, ' to one of several collections'];
  const hasKey = verb === 'Delete' || !isNothing(document?.['schema']);
  return [...start, ' to ', { name: to }, hasKey ? '' : ', without a foreign key'];
}

type DescribeMember = (name: string, member: Member) => Phrase;

/** Creates a phrase from a string in which `*` stands for the name. */
const template = (text: string, name: string): Phrase => {
  const [start = '', end = ''] = text.split('*');
  return [start, { name }, end].filter((part) => part !== '');
};

const templateByValue =
  (whenTrue: string, otherwise: string): DescribeMember =>
  (name, { after }) =>
    template(after === true ? whenTrue : otherwise, name);

const limitTemplate =
  (unit: string): DescribeMember =>
  (name, { before, after }) => {
    if (isNothing(after)) return template(`Remove the limit of ${abbreviateValue(before)} ${unit} from *`, name);
    const was = isNothing(before) ? '' : ` (was ${abbreviateValue(before)})`;
    return template(`Limit * to ${abbreviateValue(after)} ${unit}${was}`, name);
  };

const action =
  (clause: string): DescribeMember =>
  (name, { before, after }) => {
    const was = isNothing(before) ? '' : ` (was ${abbreviateValue(before).toLowerCase()})`;
    return template(`Set ${clause} of * to ${abbreviateValue(after).toLowerCase()}${was}`, name);
  };

/** Sentences that are clearer than "Change the label of X from A to B". The key is the path of the member. */
const SENTENCES: Readonly<Record<string, DescribeMember>> = {
  'schema.is_nullable': templateByValue('Make * nullable', 'Make * not null'),
  'schema.is_unique': templateByValue('Make * unique', 'Allow duplicate values in *'),
  'schema.is_indexed': templateByValue('Create an index on *', 'Drop the index on *'),
  'schema.is_primary_key': templateByValue('Make * the primary key', 'Remove * from the primary key'),
  'schema.has_auto_increment': templateByValue('Add auto-increment to *', 'Remove auto-increment from *'),
  'schema.max_length': limitTemplate('characters'),
  'schema.numeric_precision': limitTemplate('digits'),
  'schema.on_delete': action('ON DELETE'),
  'schema.on_update': action('ON UPDATE'),
  'meta.hidden': templateByValue('Hide *', 'Show *'),
  'meta.required': templateByValue('Make * required in forms', 'Make * optional in forms'),
  'meta.readonly': templateByValue('Make * read-only in forms', 'Make * editable in forms'),
  'meta.group': (name, { after }) =>
    isNothing(after) ? say`Move ${name} out of its group` : say`Move ${name} into the group ${abbreviateValue(after)}`,
  'schema.default_value': (name, { before, after }) => {
    const was = isNothing(before) ? '' : ` (was ${quoted(before)})`;
    if (isNothing(after)) return [...say`Remove the default of ${name}`, was];
    return [...say`Set the default of ${name}`, ` to ${quoted(after)}${was}`];
  },
  type: (name, { before, after }) => [
    ...say`Change the type of ${name}`,
    ` from ${abbreviateValue(before)} to ${abbreviateValue(after)}`,
  ],
  'schema.data_type': (name, { before, after }) => [
    ...say`Change the column type of ${name}`,
    ` from ${abbreviateValue(before)} to ${abbreviateValue(after)}`,
  ],
};

/** Labels for members with unclear names. */
const LABELS: Readonly<Record<string, string>> = { one_field: 'reverse field' };

/** Returns the last name of the path in words: `display template`. */
const labelOf = ({ path }: Pick<Member, 'path'>): string => {
  const last = path.at(-1) ?? '';
  return LABELS[last] ?? last.replaceAll('_', ' ');
};

/** Describes the change to a member. Objects and long values are omitted, because they are shown below the sentence. */
export function memberSentence(item: Item, member: Member): Phrase {
  const name = item.part === 'relations' ? `${item.collection}.${item.field ?? ''}` : nameOf(item);
  if (isRename(member)) return say`Rename ${valueText(member.before)} to ${name}`;
  const sentence = SENTENCES[member.path.join('.')] ?? setSentence;
  return sentence(name, member);
}

const setSentence: DescribeMember = (name, member) => {
  const { before, after } = member;
  const label = labelOf(member);
  const hasValues = isShort(before) && isShort(after);
  if (isNothing(after)) return [`Remove the ${label} of `, { name }];
  const start: Phrase = [`${isNothing(before) ? 'Set' : 'Change'} the ${label} of `, { name }];
  if (!hasValues) return start;
  return [...start, `${isNothing(before) ? '' : ` from ${quoted(before)}`} to ${quoted(after)}`];
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
  const more = explained.length > MOST ? [counted(explained.length - MOST, 'more change')] : [];
  return abbreviate([...sentences, ...more].join('. '), LONGEST);
}

function sentenceOf(item: Item, items: readonly Item[]): string {
  const [first] = sentencesOf(item, (collection) => countFields(items, collection));
  const more = item.mark === 'changed' && item.members.length > 1 ? ` (and ${item.members.length - 1} more)` : '';
  const text =
    first === undefined ? nameOf(item) : toPlainText(item.part === 'fields' ? withCollectionName(first, item) : first);
  return `${text}${more}`;
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
