/** A type that isn't there because its extension isn't: said as what there is to do. */
import type { Field } from '../../schema/model/model.js';
import type { Problem } from '../../kernel/problem.js';
import type { State } from '../../schema/model/state.js';

const UNDEFINED_OBJECT = '42704';

const POSTGIS = { name: 'PostGIS', extension: 'postgis' };

/** By data type, without what stands in its parentheses. */
const EXTENSIONS = new Map([
  ['geometry', POSTGIS],
  ['geography', POSTGIS],
  ['citext', { name: 'citext', extension: 'citext' }],
]);

const extensionOf = (field: Field | undefined) => EXTENSIONS.get(field?.schema?.data_type.replace(/[([].*/, '') ?? '');

/** The problem in other words when a missing extension is the reason; otherwise as it is. */
export function namingExtension(problem: Problem, after: State): Problem {
  if (problem.details?.['sqlstate'] !== UNDEFINED_OBJECT || problem.collection === undefined) return problem;
  const field = culprit(problem, after);
  const missing = extensionOf(field);
  if (field === undefined || missing === undefined) return problem;
  const { name, extension } = missing;
  const message =
    `${JSON.stringify(field.field)} of ${JSON.stringify(field.collection)} is of a type that comes with the extension ` +
    `${name}, which this database doesn't have; an administrator of the database adds it: CREATE EXTENSION ${extension}`;
  return { ...problem, field: field.field, message, details: { ...problem.details, extension } };
}

/** A new table is one statement: any of its fields can be the one. */
function culprit({ collection = '', field }: Problem, { collections }: State): Field | undefined {
  const fields = collections.get(collection)?.fields;
  if (field !== undefined) return fields?.get(field);
  return [...(fields?.values() ?? [])].find((each) => extensionOf(each) !== undefined);
}
