/** Findings about a snapshot of another release, vendor or product: skipped parts, and differences in meaning. */
import type { Rule } from '../model.js';

const WHY = 'The file says more than becomes of it here: whoever sent it should know the difference.';
const SAFER = 'Look whether what was left out is needed; if so, say it in this service’s words.';

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
    'A system collection was left out',
    "A collection of the other product's own.",
  ),
  imported(
    'SYSTEM_FIELD_LEFT_OUT',
    'A field on a system collection was left out',
    'A field that was added to a collection which is not part of a schema here.',
  ),
  imported(
    'SYSTEM_FIELDS_LEFT_OUT',
    'System fields were left out',
    "The file's list of changes to the other product's own fields.",
  ),
  imported(
    'FIELD_LEFT_OUT',
    'A field was left out',
    'Its collection is not in the file, or it can not be here.',
    'warn',
  ),
  imported(
    'RELATION_LEFT_OUT',
    'A relation was left out',
    'One of its sides is not there, or it can not be here.',
    'warn',
  ),
  imported('REFERENCE_LEFT_OUT', 'A reference was left out', 'It names something that is not there.', 'warn'),
  imported(
    'FOREIGN_KEY_LEFT_OUT',
    'A foreign key was left out',
    'The relation stays without the key in the database: its sides are of types that can not be compared, or its target is not here.',
    'warn',
  ),
  imported('DUPLICATE_LEFT_OUT', 'A duplicate was left out', 'The file says it twice; the first was kept.', 'warn'),
  imported('MEMBER_LEFT_OUT', 'A member was left out', 'A member that is unknown here.'),
  imported(
    'VALUE_LEFT_OUT',
    'A value was left out',
    'A value that its member does not take; the default is used.',
    'warn',
  ),
  imported('DEFAULT_LEFT_OUT', 'A default was left out', 'A default that its type does not take.', 'warn'),
  imported('EXPRESSION_LEFT_OUT', 'An expression was left out', "SQL in another vendor's words.", 'warn'),
  imported(
    'TYPE_CHANGED',
    'Another type',
    'The type is not one of PostgreSQL, or does not fit the key that it points at; the nearest is used.',
    'warn',
  ),
  imported(
    'PRIMARY_KEY_ADDED',
    'A primary key was added',
    'The file does not say which field is the primary key; the likely one was taken.',
    'warn',
  ),
];
