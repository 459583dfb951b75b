/* The members of collections, fields and relations: their inputs in form order. */
import { FIELD_WIDTHS } from '../../schema/model/model.js';
import { useDraftedCollections, useDraftedFields } from '../draft/store.js';

export type Kind =
  | 'text'
  | 'area'
  | 'code'
  | 'number'
  | 'flag'
  | 'choice'
  | 'suggestion'
  | 'icon'
  | 'color'
  | 'json'
  | 'words'
  | 'translations'
  /** A field of the collection. */
  | 'field'
  | 'alias'
  | 'collection';

export interface Member {
  /** `meta.note` */
  path: string;
  label: string;
  help?: string;
  kind: Kind;
  /** The options or suggestions. An empty one means null. */
  options?: readonly (string | { value: string; label: string })[];
}

export interface Section {
  title: string;
  members: readonly Member[];
}

const meta = (name: string, label: string, kind: Kind, more: Omit<Member, 'path' | 'label' | 'kind'> = {}): Member => ({
  path: `meta.${name}`,
  label,
  kind,
  ...more,
});

const column = (name: string, label: string, kind: Kind, help?: string): Member => ({
  path: `schema.${name}`,
  label,
  kind,
  ...(help !== undefined && { help }),
});

const LOOK: Section = {
  title: 'Appearance',
  members: [
    meta('icon', 'Icon', 'icon'),
    meta('color', 'Color', 'color'),
    meta('note', 'Note', 'area', { help: 'Describes the purpose. Visible to all users.' }),
    meta('display_template', 'Display template', 'text', {
      help: 'How an item is displayed, for example {{ title }} by {{ author.name }}',
    }),
    meta('translations', 'Translated names', 'translations'),
  ],
};

const PLACE: Section = {
  title: 'Position in the tree',
  members: [
    meta('group', 'Parent group', 'collection'),
    meta('sort', 'Sort order', 'number', { help: 'Position within its group, smallest first' }),
    meta('collapse', 'Nested collections', 'choice', {
      options: [
        { value: 'open', label: 'Open by default' },
        { value: 'closed', label: 'Closed by default' },
        { value: 'locked', label: 'Always open' },
      ],
    }),
    meta('hidden', 'Hidden', 'flag', { help: 'Shown only when hidden collections are displayed' }),
  ],
};

export const FOLDER_SECTIONS: readonly Section[] = [LOOK, PLACE];

export const COLLECTION_SECTIONS: readonly Section[] = [
  LOOK,
  PLACE,
  {
    title: 'Items',
    members: [
      meta('singleton', 'Singleton (one item only)', 'flag'),
      meta('versioning', 'Content versioning', 'flag'),
      meta('sort_field', 'Sort field', 'field'),
      meta('accountability', 'Accountability', 'choice', {
        options: [
          { value: 'all', label: 'Activity and revisions' },
          { value: 'activity', label: 'Activity' },
          { value: '', label: 'Nothing' },
        ],
      }),
      meta('preview_url', 'Preview URL', 'text', { help: 'https://example.com/{{ slug }}' }),
      meta('item_duplication_fields', 'Duplicated fields', 'words', {
        help: 'Fields that are copied with an item. Leave empty for all.',
      }),
    ],
  },
  {
    title: 'Archive',
    members: [
      meta('archive_field', 'Archive field', 'field'),
      meta('archive_value', 'Archive value', 'text'),
      meta('unarchive_value', 'Unarchive value', 'text'),
      meta('archive_app_filter', 'Hide archived items by default', 'flag'),
    ],
  },
  { title: 'Table', members: [column('comment', 'Comment in the database', 'area')] },
];

const INTERFACES = [
  'input',
  'input-multiline',
  'input-rich-text-html',
  'input-rich-text-md',
  'input-code',
  'input-hash',
  'input-autocomplete-api',
  'boolean',
  'datetime',
  'numeric',
  'slider',
  'tags',
  'list',
  'map',
  'select-color',
  'select-dropdown',
  'select-icon',
  'select-multiple-checkbox',
  'select-multiple-dropdown',
  'select-radio',
  'file',
  'file-image',
  'files',
  'select-dropdown-m2o',
  'list-o2m',
  'list-m2m',
  'list-m2a',
  'translations',
  'presentation-divider',
  'presentation-links',
  'presentation-notice',
  'group-accordion',
  'group-detail',
  'group-raw',
] as const;

const DISPLAYS = [
  'raw',
  'formatted-value',
  'formatted-json-value',
  'boolean',
  'color',
  'collection',
  'datetime',
  'file',
  'filesize',
  'icon',
  'image',
  'labels',
  'mime-type',
  'rating',
  'related-values',
  'translations',
  'user',
] as const;

export const FIELD_SECTIONS: readonly Section[] = [
  {
    title: 'Appearance',
    members: [
      meta('interface', 'Interface', 'suggestion', { options: INTERFACES, help: 'How users enter a value' }),
      meta('options', 'Interface options', 'json'),
      meta('display', 'Display', 'suggestion', { options: DISPLAYS, help: 'How lists show a value' }),
      meta('display_options', 'Display options', 'json'),
      meta('note', 'Note', 'area'),
      meta('translations', 'Translated names', 'translations'),
    ],
  },
  {
    title: 'Position in the form',
    members: [
      meta('width', 'Width', 'choice', { options: FIELD_WIDTHS }),
      meta('sort', 'Sort order', 'number', { help: 'Smallest first' }),
      meta('group', 'Parent group', 'alias', { help: 'An alias field that groups others' }),
      meta('hidden', 'Hidden', 'flag'),
      meta('readonly', 'Read only', 'flag'),
    ],
  },
  {
    title: 'Rules',
    members: [
      meta('required', 'Required in forms', 'flag'),
      meta('validation', 'Validation', 'json', { help: 'A filter that values must match' }),
      meta('validation_message', 'Validation message', 'text'),
      meta('conditions', 'Conditions', 'json', { help: 'Options that depend on other fields' }),
      meta('special', 'Special', 'words', { help: 'How values are processed: uuid, date-created, cast-json …' }),
    ],
  },
];

export const COLUMN_FLAGS: readonly Member[] = [
  column('is_nullable', 'Nullable', 'flag'),
  column('is_unique', 'Unique', 'flag'),
  column('is_indexed', 'Indexed', 'flag'),
  column('is_primary_key', 'Primary key', 'flag'),
  column('has_auto_increment', 'Auto-increment', 'flag'),
];

export const COLUMN_TEXTS: readonly Member[] = [
  column('generation_expression', 'Generated from', 'code', 'An SQL expression that uses other columns of the row'),
  column('comment', 'Comment in the database', 'area'),
];

/* The common props of member inputs. */

/** The names to choose from. */
export interface Choices {
  fields: readonly string[];
  /** Fields without a column. */
  aliases: readonly string[];
  collections: readonly string[];
}

export interface InputProps {
  member: Member;
  value: unknown;
  onChange: (value: unknown) => void;
  onBlur: () => void;
  ref: (element: unknown) => void;
  error: string | undefined;
  choices: Choices;
}

/** @param collection null for one that does not exist yet */
export function useChoices(collection: string | null): Choices {
  const { data: fields = [] } = useDraftedFields(collection);
  const { data: collections = [] } = useDraftedCollections();
  const there = fields.filter(({ how }) => how !== 'removed').map(({ document }) => document);
  return {
    fields: there.filter(({ schema }) => schema !== null).map(({ field }) => field),
    aliases: there.filter(({ schema }) => schema === null).map(({ field }) => field),
    collections: collections
      .filter(({ how, document }) => how !== 'removed' && document.collection !== collection)
      .map(({ document }) => document.collection)
      .sort(),
  };
}
