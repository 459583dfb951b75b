/** What a batch came to, in one line. */
import { EVENT_TYPES } from './event-types.js';

export interface TypeCount {
  type: string;
  count: number;
  /** Of the event, when there is only one. */
  collection: string | null;
  field: string | null;
  /** Of a rename. */
  to?: string | null;
}

/** `created collection articles, updated 3 fields, deleted relation articles.author` */
export function summarise(counts: readonly TypeCount[]): string {
  const ordered = [...counts].sort((a, b) => rank(a.type) - rank(b.type));
  return ordered.map(phrase).join(', ');
}

function phrase({ type, count, collection, field, to }: TypeCount): string {
  const [kind = '', verb = ''] = type.split('.');
  if (count > 1) return `${verb} ${count} ${kind}s`;
  const name = [collection, field].filter((part) => part !== null).join('.');
  const said = name === '' ? `${verb} ${kind}` : `${verb} ${kind} ${name}`;
  return to == null ? said : `${said} to ${to}`;
}

function rank(type: string): number {
  const index = EVENT_TYPES.findIndex((each) => each === type);
  return index < 0 ? EVENT_TYPES.length : index;
}
