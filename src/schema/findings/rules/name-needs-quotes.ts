import { hasColumn } from '../../model/state.js';
import type { Observed, Rule } from '../model.js';
import { labelOf } from './common.js';
import { namesGiven } from './names-given.js';

/** Names that PostgreSQL accepts without quotes. */
const PLAIN = /^[\p{Ll}\p{Lo}_][\p{Ll}\p{Lo}\p{Nd}_$]*$/u;

export const nameNeedsQuotes: Rule = {
  code: 'NAME_NEEDS_QUOTES',
  level: 'note',
  standing: true,
  title: 'Name that has to be quoted',
  what: 'The name of a table or a column has capitals, blanks, or signs that an SQL name does not have.',
  why: 'SQL without quotes reads `Articles` as `articles`: who forgets them is told that there is no such table.',
  safer: 'Use small letters, digits and underscores; what people read stands in `translations`.',
  example: { unsafe: '{"collection": "BlogPosts"}', safe: '{"collection": "blog_posts"}' },
  aliases: { atlas: ['NM102', 'NM103'] },
  field: ({ old, now }) =>
    old === undefined && hasColumn(now) && !PLAIN.test(now.field)
      ? said(labelOf(now), { field: now.field })
      : undefined,
  event: (planned) =>
    namesGiven(planned).flatMap(({ name, place, label }) => (PLAIN.test(name) ? [] : [said(label, place)])),
};

const said = (label: string, place: Pick<Observed, 'collection' | 'field'>): Observed => ({
  message: `${label}: SQL has to quote its name`,
  ...place,
});
