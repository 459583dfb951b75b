/* Derives the inputs of collections, fields and relations from the description of their documents. */
import type { z } from 'zod';
import {
  type FormInput,
  collectionMeta,
  columnSchema,
  fieldMeta,
  foreignKey,
  memberOf,
  relationMembers,
  tableSchema,
} from '../../schema/model/model.js';

/** The input of a member. */
export interface Member extends Omit<FormInput, 'section' | 'position'> {
  /** The path in the document: `meta.note`. */
  path: string;
}

export interface Section {
  title: string;
  members: readonly Member[];
}

/**
 * Returns the inputs of a section in order.
 * @param part the prefix of their paths: `meta.`, `schema.` or nothing
 */
function membersIn(section: string, part: string, { shape }: z.ZodObject): Member[] {
  return Object.entries(shape)
    .map(([name, member]) => ({ path: part + name, ...memberOf(member).input }))
    .filter((input): input is { path: string } & FormInput => input.section === section)
    .sort((a, b) => a.position - b.position);
}

/** The input of one member. */
export function memberAt(path: string, members: readonly Member[]): Member {
  const member = members.find((each) => each.path === path);
  if (member === undefined) throw new Error(`${path} has no input`);
  return member;
}

const sectionsOf = (document: z.ZodObject, titles: readonly string[]): Section[] =>
  titles.map((title) => ({ title, members: membersIn(title, 'meta.', document) }));

export const FOLDER_SECTIONS: readonly Section[] = sectionsOf(collectionMeta, ['Appearance', 'Position in the tree']);

export const COLLECTION_SECTIONS: readonly Section[] = [
  ...FOLDER_SECTIONS,
  ...sectionsOf(collectionMeta, ['Items', 'Archive']),
  { title: 'Table', members: membersIn('Table', 'schema.', tableSchema) },
];

export const FIELD_SECTIONS: readonly Section[] = sectionsOf(fieldMeta, [
  'Appearance',
  'Position in the form',
  'Rules',
]);

const columnMembers = (section: string): readonly Member[] => membersIn(section, 'schema.', columnSchema);

/** Members that depend on the data type. */
export const COLUMN_TYPE = columnMembers('Type');
export const COLUMN_FLAGS = columnMembers('Flags');
export const COLUMN_TEXTS = columnMembers('Texts');

export const RELATION_MEMBERS = membersIn('Relation', '', relationMembers);
export const FOREIGN_KEY_MEMBERS = membersIn('Foreign key', 'schema.', foreignKey);
