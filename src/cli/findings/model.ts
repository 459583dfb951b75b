/** Findings as the service answers them, and where they are from. */
import type { Finding } from '../../schema/findings/index.js';
import { placeText } from '../../schema/model/place.js';

/** A release before this one says no level. */
export type Shown = Pick<Finding, 'code' | 'message'> & Partial<Finding>;

export interface Source {
  /** The file that was looked at, as it was named; null: none, or stdin. */
  file: string | null;
  /** Its text; empty: none. */
  text: string;
  /** Of several files: where something stands in them; null: in none. */
  locate?: Locate;
}

export type Locate = (collection?: string, field?: string) => { file: string; line: number } | null;

/** `articles.title`; empty: no place. */
export const placeOf = ({ object, ...finding }: Shown): string => {
  const place = placeText(finding);
  return object === undefined ? place : `${place} (${object.kind} ${object.name})`;
};

/** `PATCH /fields/articles/title?online {"schema":…}` */
export function requestOf({ safer }: Shown): string | undefined {
  const request = safer?.request;
  if (request === undefined) return undefined;
  const body = request.body === undefined ? '' : ` ${JSON.stringify(request.body)}`;
  return `${request.method} ${request.path}${body}`;
}
