/** The members of collections, fields and relations: their inputs in form order. */
import { FIELD_WIDTHS } from '../../schema/model/model.js';

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
  title: 'Look',
  members: [
    meta('icon', 'Icon', 'icon'),
    meta('color', 'Colour', 'color'),
    meta('note', 'Note', 'area', { help: 'What it is for. Everybody sees it.' }),
    meta('display_template', 'Display template', 'text', {
      help: 'How one item is called: {{ title }} by {{ author.name }}',
    }),
    meta('translations', 'Names in other languages', 'translations'),
  ],
};

const PLACE: Section = {
  title: 'Place in the tree',
  members: [
    meta('group', 'Inside of', 'collection'),
    meta('sort', 'Place', 'number', { help: 'Among its neighbours, the smallest first' }),
    meta('collapse', 'With collections inside', 'choice', {
      options: [
        { value: 'open', label: 'open at first' },
        { value: 'closed', label: 'closed at first' },
        { value: 'locked', label: 'always open' },
      ],
    }),
    meta('hidden', 'Hidden', 'flag', { help: 'Shown only to who asks for hidden collections' }),
  ],
};

export const FOLDER_SECTIONS: readonly Section[] = [LOOK, PLACE];

export const COLLECTION_SECTIONS: readonly Section[] = [
  LOOK,
  PLACE,
  {
    title: 'Items',
    members: [
      meta('singleton', 'Holds one item only', 'flag'),
      meta('versioning', 'Items have versions', 'flag'),
      meta('sort_field', 'Sorted by hand with', 'field'),
      meta('accountability', 'What is recorded', 'choice', {
        options: [
          { value: 'all', label: 'activity and revisions' },
          { value: 'activity', label: 'activity' },
          { value: '', label: 'nothing' },
        ],
      }),
      meta('preview_url', 'Preview address', 'text', { help: 'https://example.com/{{ slug }}' }),
      meta('item_duplication_fields', 'Copied with an item', 'words', { help: 'Names of fields; empty: all' }),
    ],
  },
  {
    title: 'Archive',
    members: [
      meta('archive_field', 'Archived by', 'field'),
      meta('archive_value', 'Value of archived items', 'text'),
      meta('unarchive_value', 'Value when taken back', 'text'),
      meta('archive_app_filter', 'Archived items are left out at first', 'flag'),
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
    title: 'Look',
    members: [
      meta('interface', 'Interface', 'suggestion', { options: INTERFACES, help: 'How a value is entered' }),
      meta('options', 'Options of the interface', 'json'),
      meta('display', 'Display', 'suggestion', { options: DISPLAYS, help: 'How a value is shown in lists' }),
      meta('display_options', 'Options of the display', 'json'),
      meta('note', 'Note', 'area'),
      meta('translations', 'Names in other languages', 'translations'),
    ],
  },
  {
    title: 'Place in the form',
    members: [
      meta('width', 'Width', 'choice', { options: FIELD_WIDTHS }),
      meta('sort', 'Place', 'number', { help: 'The smallest first' }),
      meta('group', 'Inside of', 'alias', { help: 'A group: an alias field' }),
      meta('hidden', 'Hidden', 'flag'),
      meta('readonly', 'Read only', 'flag'),
    ],
  },
  {
    title: 'Rules',
    members: [
      meta('required', 'A value is required in forms', 'flag'),
      meta('validation', 'Validation', 'json', { help: 'A filter that a value must pass' }),
      meta('validation_message', 'What is said when it does not', 'text'),
      meta('conditions', 'Conditions', 'json', { help: 'Options that depend on other values' }),
      meta('special', 'Special', 'words', { help: 'What is done with values: uuid, date-created, cast-json …' }),
    ],
  },
];

export const COLUMN_FLAGS: readonly Member[] = [
  column('is_nullable', 'May be null', 'flag'),
  column('is_unique', 'Unique', 'flag'),
  column('is_indexed', 'Indexed', 'flag'),
  column('is_primary_key', 'Primary key', 'flag'),
  column('has_auto_increment', 'Counts up by itself', 'flag'),
];

export const COLUMN_TEXTS: readonly Member[] = [
  column('generation_expression', 'Generated from', 'code', 'An SQL expression over other columns of the row'),
  column('comment', 'Comment in the database', 'area'),
];
