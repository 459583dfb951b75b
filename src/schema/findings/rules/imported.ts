/** Findings about a snapshot from another release, vendor or product: skipped parts, and differences in meaning. */
import type { Rule } from '../model.js';

const WHY =
  'The file contains something that this service does not import. Report the difference to the author of the file.';
const SAFER = 'Check whether the skipped part is needed. If so, express it with the members of this service.';

const imported = (code: string, title: string, what: string, level: Rule['level'] = 'note'): Rule => ({
  code,
  level,
  shownOnly: true,
  title,
  what,
  why: WHY,
  safer: SAFER,
});

export const IMPORTED: readonly Rule[] = [
  imported(
    'SYSTEM_COLLECTION_LEFT_OUT',
    'A system collection was skipped',
    'The collection belongs to Directus itself.',
  ),
  imported(
    'SYSTEM_FIELD_LEFT_OUT',
    'A field on a system collection was skipped',
    'The field was added to a collection that is not part of the schema.',
  ),
  imported(
    'SYSTEM_FIELDS_LEFT_OUT',
    'System fields were skipped',
    'The file lists changes to system fields of Directus.',
  ),
  imported(
    'FIELD_LEFT_OUT',
    'A field was skipped',
    'Its collection is not in the file, or is not supported here.',
    'warn',
  ),
  imported(
    'RELATION_LEFT_OUT',
    'A relation was skipped',
    'One of its sides does not exist, or is not supported here.',
    'warn',
  ),
  imported('REFERENCE_LEFT_OUT', 'A reference was skipped', 'It names something that does not exist.', 'warn'),
  imported(
    'FOREIGN_KEY_LEFT_OUT',
    'A foreign key was skipped',
    'The relation is imported without its foreign key: the types of its sides cannot be compared, or its target does not exist here.',
    'warn',
  ),
  imported(
    'DUPLICATE_LEFT_OUT',
    'A duplicate was skipped',
    'The file contains it twice. The first was imported.',
    'warn',
  ),
  imported('MEMBER_LEFT_OUT', 'A member was skipped', 'The service does not support this member.'),
  imported(
    'VALUE_LEFT_OUT',
    'A value was skipped',
    'The member does not accept this value. The default is used instead.',
    'warn',
  ),
  imported('DEFAULT_LEFT_OUT', 'A default was skipped', 'The type does not accept this default.', 'warn'),
  imported(
    'EXPRESSION_LEFT_OUT',
    'An expression was skipped',
    'The expression uses the SQL dialect of another database system.',
    'warn',
  ),
  imported(
    'TYPE_CHANGED',
    'Different type',
    'PostgreSQL does not have the type, or it does not match the referenced key. The nearest type is used.',
    'warn',
  ),
  imported(
    'PRIMARY_KEY_ADDED',
    'A primary key was added',
    'The file does not name the primary key. The likely field was chosen.',
    'warn',
  ),
];
