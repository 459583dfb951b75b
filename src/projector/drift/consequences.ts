/** After a rename, objects that reference the table show its new name. That is not a separate difference. */
import { isObject, jsonEqual, type Json } from '../../kernel/json.js';
import type { CatalogTable } from '../catalog/model.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import type { Difference } from '../verify/index.js';

/** @param renamed the actual table, by its previous name */
export function isConsequence({ expected, found }: Difference, renamed: ReadonlyMap<string, CatalogTable>): boolean {
  if (!isObject(expected) || !isObject(found)) return false;
  for (const [was, { name }] of renamed) {
    if (jsonEqual(expected, withName(found, name, was))) return true;
  }
  return false;
}

type Shape = { [member: string]: Json };

/** The shape of a foreign key or partition with the table's previous name. */
function withName(shape: Shape, name: string, was: string): Shape {
  const { references, table, definition } = shape;
  const former: Shape = { ...shape };
  if (isObject(references) && references['table'] === name) former['references'] = { ...references, table: was };
  if (table === name) former['table'] = was;
  if (typeof definition === 'string') former['definition'] = definition.replace(target(name), () => target(was));
  return former;
}

/** The spelling of pg_get_constraintdef. */
const target = (name: string): string => ` REFERENCES ${quotedName(name)}(`;
