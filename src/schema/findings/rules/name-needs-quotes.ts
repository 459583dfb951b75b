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
  title: 'Name needs quotes',
  what: 'The name of a table or column contains capitals, blanks or other characters that SQL requires quotes for.',
  why: 'SQL without quotes reads `Articles` as `articles`. Without quotes, queries fail with "does not exist".',
  safer: 'Use lowercase letters, digits and underscores. Put display names into `translations`.',
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
  message: `${label}: SQL must quote its name`,
  ...place,
});
