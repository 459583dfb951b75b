/** What a batch came to, in one line. */
import { EVENT_TYPES } from './event-types.js';

export interface TypeCount {
  type: string;
  /** Whether it makes what came back from the trash. */
  restored: boolean;
  count: number;
  /** Of the event, when there is only one. */
  collection: string | null;
  field: string | null;
  /** Of a rename. */
  to?: string | null;
}

/** `created collection articles, updated 3 fields, deleted relation articles.author` */
export function summarise(counts: readonly TypeCount[]): string {
  const ordered = [...counts].sort((a, b) => rank(a.type) - rank(b.type) || Number(a.restored) - Number(b.restored));
  return ordered.map(phrase).join(', ');
}

function phrase({ type, restored, count, collection, field, to }: TypeCount): string {
  const [kind = '', done = ''] = type.split('.');
  const verb = restored ? 'restored' : done;
  if (count > 1) return `${verb} ${count} ${kind}s`;
  const name = [collection, field].filter((part) => part !== null).join('.');
  const said = name === '' ? `${verb} ${kind}` : `${verb} ${kind} ${name}`;
  return to == null ? said : `${said} to ${to}`;
}

function rank(type: string): number {
  const index = EVENT_TYPES.findIndex((each) => each === type);
  return index < 0 ? EVENT_TYPES.length : index;
}
