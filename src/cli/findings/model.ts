import type { z } from 'zod';
import type { finding } from '../../http/openapi/answers/schema.js';
import { placeText } from '../../schema/model/place.js';

type Finding = z.output<typeof finding>;

/** Earlier releases return no level. */
export type Shown = Pick<Finding, 'code' | 'message'> & Partial<Finding>;

export interface Source {
  /** The name of the checked file; null for stdin or no file. */
  file: string | null;
  /** Its text; empty without a file. */
  text: string;
  /** For several files: the location within them; null if there is none. */
  locate?: Locate;
}

export type Locate = (collection?: string, field?: string) => { file: string; line: number } | null;

/** `articles.title`; empty without a location. */
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
