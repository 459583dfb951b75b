/** Findings as lines, without texts specific to their rule. */
import { expect } from 'chai';
import type { Finding, TableStatistics } from '../../../src/schema/findings/model.js';
import { type Edited, type DiffOptions, LIBRARY, column, edit, fieldIn } from './diffs.js';
import { ROWS } from './plan.js';

export type Edit = (snapshot: Edited) => void;

export interface Telling {
  it: string;
  /** The state before, in the library. */
  given?: Edit;
  when: Edit;
  how?: DiffOptions;
  /** Only these codes. */
  of?: readonly string[];
  told: readonly string[];
}

/** `warn LONG_LOCK articles.title constraint name: the message; PATCH /fields/articles/title?online {…}` */
function lineOf({ code, level, collection, field, object, message, safer }: Finding): string {
  const place = [collection, field].filter((part) => part !== undefined).join('.');
  const what = object === undefined ? '' : ` ${object.kind} ${object.name}`;
  const request = safer?.request;
  const body = request?.body === undefined ? '' : ` ${JSON.stringify(request.body)}`;
  const instead = request === undefined ? '' : `; ${request.method} ${request.path}${body}`;
  return `${level} ${code} ${place}${what}: ${message}${instead}`;
}

export function itReports({ it: title, given, when, how, of, told }: Telling): void {
  it(title, () => {
    const before = given === undefined ? LIBRARY : edit(LIBRARY, given).after;
    const { findings } = edit(before, when, how);
    const lines = findings.filter(({ code }) => of === undefined || of.includes(code)).map(lineOf);
    expect(lines).to.deep.equal(told);
  });
}

export const set =
  (field: string, schema: object, type?: string): Edit =>
  (snapshot) => {
    const document = fieldIn(snapshot, field);
    Object.assign(document.schema, schema);
    if (type !== undefined) document['type'] = type;
  };

/** Adds a field to articles. */
export const add =
  (name: string, type: string, schema: object = {}): Edit =>
  ({ fields }) =>
    fields.push(column('articles', name, type, { ...schema }));

export const all =
  (...edits: Edit[]): Edit =>
  (snapshot) =>
    edits.forEach((each) => each(snapshot));

/** Sets extras of the table of articles. */
export const extras =
  (more: object): Edit =>
  ({ collections }) => {
    const articles = collections.find(({ collection }) => collection === 'articles');
    if (articles !== undefined) articles['schema'] = { ...(articles['schema'] as object), extras: more };
  };

export const relation =
  (schema: object | null = {}, more: object = {}): Edit =>
  ({ relations }) =>
    relations.push({
      many_collection: 'articles',
      many_field: 'author',
      one_collection: 'authors',
      schema:
        schema === null
          ? null
          : { constraint_name: 'articles_author_foreign', on_update: 'NO ACTION', on_delete: 'NO ACTION', ...schema },
      ...more,
    });

/** Sets the number of rows in the table of articles. */
export const rows = (count: number | null, more: Partial<TableStatistics> = {}): DiffOptions => ({
  known: { statistics: new Map([['articles', { ...ROWS(count ?? 0, more), rows: count }]]) },
});
