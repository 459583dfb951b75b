import type { Graph, Link, Table, TableRow } from '../graph/graph.js';

/** Returns an entity relationship diagram in the language of Mermaid, with the rows that the diagram shows. */
export const mermaidOf = ({ tables, links }: Graph): string =>
  ['erDiagram', ...tables.map(entityOf), ...links.map(relationshipOf), ''].join('\n');

function entityOf({ name, rows }: Table): string {
  if (rows.length === 0) return `  ${quoted(name)}`;
  return [`  ${quoted(name)} {`, ...rows.map(attributeOf), '  }'].join('\n');
}

function attributeOf({ field, type, isKey, isForeign }: TableRow): string {
  const keys = [isKey && 'PK', isForeign && 'FK'].filter((key) => key !== false).join(', ');
  const name = identifierOf(field);
  const comment = name === field ? '' : ` ${quoted(field)}`;
  return `    ${identifierOf(type)} ${name}${keys === '' ? '' : ` ${keys}`}${comment}`;
}

/** A dashed line stands for a relation without a foreign key. */
const relationshipOf = ({ from, fromField, to, kind }: Link): string =>
  `  ${quoted(from)} }o${kind === 'key' ? '--' : '..'}|| ${quoted(to)} : ${quoted(fromField)}`;

/** Mermaid has no escape for quotation marks. */
const quoted = (name: string): string => `"${name.replaceAll(/["\n\r\\%]/g, "'")}"`;

/** Types and attributes cannot be quoted. */
function identifierOf(name: string): string {
  const word = name.replaceAll(/[^\p{L}\p{N}_-]+/gu, '_');
  return /^\p{L}|^_/u.test(word) ? word : `_${word}`;
}
