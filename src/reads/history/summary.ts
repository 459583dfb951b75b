/** Summarises a batch in one line. */
import { EVENT_TYPES } from './event-types.js';

export interface TypeCount {
  type: string;
  /** True if it recreates an object from the trash. */
  restored: boolean;
  count: number;
  /** Set if there is only one event. */
  collection: string | null;
  field: string | null;
  /** The new name of a rename. */
  to?: string | null;
  /** The title of a change request that people were asked about. */
  title?: string | null;
}

/** `created collection articles, updated 3 fields, deleted relation articles.author` */
export function summarise(counts: readonly TypeCount[]): string {
  const ordered = [...counts].sort((a, b) => rank(a.type) - rank(b.type) || Number(a.restored) - Number(b.restored));
  return ordered.map(phrase).join(', ');
}

/** Used where the event name alone would not be understood. */
const NOUNS: Readonly<Record<string, string>> = {
  change: 'change request',
  account: 'user',
  token: 'API token',
};
const VERBS: Readonly<Record<string, string>> = { 'change.commented': 'commented on' };

function phrase({ type, restored, count, collection, field, to, title }: TypeCount): string {
  const [subject = '', done = ''] = type.split('.');
  const kind = NOUNS[subject] ?? subject;
  const verb = restored ? 'restored' : (VERBS[type] ?? done);
  if (count > 1) return `${verb} ${count} ${kind}s`;
  const name = [collection, field].filter((part) => part !== null).join('.');
  if (title != null) return `${verb} ${kind} “${title}”`;
  const said = name === '' ? `${verb} ${kind}` : `${verb} ${kind} ${name}`;
  return to == null ? said : `${said} to ${to}`;
}

function rank(type: string): number {
  const index = EVENT_TYPES.findIndex((each) => each === type);
  return index < 0 ? EVENT_TYPES.length : index;
}
