/** A collation that a table uses. */
import type { Need } from '../../model/extras.js';
import type { Path } from '../../../kernel/problem.js';
import type { Report } from '../checks.js';

type CollationNeed = Extract<Need, { kind: 'collation' }>;
type Member = Exclude<keyof CollationNeed, 'kind' | 'name' | 'provider'>;

/** The options besides the locale that PostgreSQL accepts per provider. */
const MEMBERS: Readonly<Record<CollationNeed['provider'], readonly Member[]>> = {
  libc: ['locale', 'lc_collate', 'lc_ctype'],
  icu: ['locale', 'deterministic', 'rules'],
  builtin: ['locale'],
};

const ALL: readonly Member[] = ['locale', 'lc_collate', 'lc_ctype', 'deterministic', 'rules'];
const TEXTS = ['locale', 'lc_collate', 'lc_ctype', 'rules'] as const;

/** Only the server knows whether it has the locale. */
export function readCollation(need: CollationNeed, steps: Path, report: Report): Need {
  for (const member of ALL.filter((each) => need[each] !== undefined && !MEMBERS[need.provider].includes(each))) {
    report([...steps, member], `must be left out: a collation of ${need.provider} has none`);
  }
  for (const member of TEXTS) report([...steps, member], textFault(need[member]));
  const { locale, lc_collate: collate, lc_ctype: type } = need;
  const categories = [collate, type].filter((each) => each !== undefined);
  if (need.provider === 'libc' && categories.length > 0) {
    checkCategories(need, steps, report);
    return collate !== undefined && collate === type ? asLocale(need, collate) : need;
  }
  if (locale === undefined) report([...steps, 'locale'], 'must be given: the locale, as the provider names it');
  return need;
}

function checkCategories({ locale, lc_collate, lc_ctype }: CollationNeed, steps: Path, report: Report): void {
  if (locale !== undefined) report([...steps, 'locale'], 'must be left out where lc_collate and lc_ctype are given');
  if (lc_collate === undefined) report([...steps, 'lc_collate'], 'must be given with lc_ctype');
  if (lc_ctype === undefined) report([...steps, 'lc_ctype'], 'must be given with lc_collate');
}

/** PostgreSQL stores two equal values as one locale. */
const asLocale = ({ kind, name, provider }: CollationNeed, locale: string): Need => ({ kind, name, provider, locale });

const MAX_LENGTH = 10_000;
const NO_TEXT = /\0|\p{Surrogate}/u;

function textFault(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  return NO_TEXT.test(text) ? 'must be text that UTF-8 can say, without the character NUL' : null;
}
