/** The context of a text: its table and the table's needs. */
import { extrasOf, type CollectionNode } from '../model/state.js';
import { parseTypeText } from './expression.js';
import type { Need } from '../model/extras.js';

export interface TextContext {
  /** The table. Absent for rules of domains. */
  collection?: string;
  columns: ReadonlySet<string>;
  /** Enums and domains that the table needs. */
  types: ReadonlySet<string>;
  /** Types of its columns. */
  columnTypes: ReadonlySet<string>;
  sequences: ReadonlySet<string>;
  extensions: ReadonlySet<string>;
}

export interface Table {
  collection?: string;
  columns: readonly { name: string; type: string }[];
  needs: readonly Need[];
}

export const NOTHING_AROUND = textContextOfTable({ columns: [], needs: [] });

/** For a known collection. Aliases are no columns. */
export function textContextOf({ collection, fields }: Pick<CollectionNode, 'collection' | 'fields'>): TextContext {
  const columns = [...fields.values()].flatMap(({ field, schema }) =>
    schema === null ? [] : [{ name: field, type: schema.data_type }],
  );
  return textContextOfTable({
    collection: collection.collection,
    columns,
    needs: extrasOf({ collection }).needs ?? [],
  });
}

/** @param columns types in format_type's spelling, with parameters */
export function textContextOfTable({ collection, columns, needs }: Table): TextContext {
  const named = (...kinds: Need['kind'][]) => needs.flatMap(({ kind, name }) => (kinds.includes(kind) ? [name] : []));
  return {
    ...(collection === undefined ? {} : { collection }),
    columns: new Set(columns.map(({ name }) => name)),
    types: new Set(named('enum', 'domain')),
    columnTypes: new Set(columns.map(({ type }) => parseTypeText(type)?.name ?? type)),
    sequences: new Set(named('sequence')),
    extensions: new Set([...named('extension'), ...extensionsOf(columns)]),
  };
}

/** PostGIS cannot be among the needs, but a column of its types implies it. */
function extensionsOf(columns: Table['columns']): string[] {
  return columns.some(({ type }) => /^geo(metry|graphy)\b/.test(type)) ? ['postgis'] : [];
}
