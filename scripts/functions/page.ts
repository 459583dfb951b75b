/** docs/functions.md: what SQL from outside may name, and why. */
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { NAMES_OF_EXTENSIONS, OWN_NAMES, type AllowedNames } from '../../src/schema/sql-text/allowed-functions.js';
import {
  CHOSEN_EXTENSION_FUNCTIONS,
  CHOSEN_FUNCTIONS,
  GUARDED_FUNCTIONS,
  type Group,
  namesOf,
  REFUSED_EXTENSION_FUNCTIONS,
  REFUSED_FUNCTIONS,
  REFUSED_TYPES,
} from '../../src/schema/sql-text/chosen-functions.js';

export const PAGE = new URL('../../docs/functions.md', import.meta.url);

const INTRODUCTION = `# SQL in requests: what it may name

A default, a CHECK, the expression of a generated column, of an index or of its \`WHERE\`, a partition key and the rules of
a domain can arrive as SQL text (\`schema.generation_expression\`, \`schema.extras\`). PostgreSQL evaluates it, as the
service's own account. So each text is read with PostgreSQL's own parser, and everything in it has to be listed on this
page. What isn't is refused with 400, and the answer names the place. Nothing of a refused text runs, in a dry run neither.

A text is checked where it is new or changed. What the log holds already, and what a table had when it was adopted, stays
as it is. What an adopted table has beyond the list is no part of a snapshot, and adopting lists it.

- **Bounds of partitions** are constants: literals, \`MINVALUE\`, \`MAXVALUE\`, and casts of literals to types of PostgreSQL.
- **Types** are PostgreSQL's own (below), those that the table \`needs\` (enums, domains, types of an extension), and those
  of its columns. \`regconfig\` takes a literal that names a configuration of PostgreSQL's own: \`'english'::regconfig\`.
- **Functions** are those below, with or without \`pg_catalog.\` before them; no other schema. The table \`needs\` the
  extension whose function it calls.
- **Operators** and operator classes are PostgreSQL's own, none of which stands for a volatile function, and those of
  extensions that the table \`needs\`.
- **Not at all**: subqueries, parameters, aggregates, window functions, functions that return rows, comments, XML, a part
  of a value taken with a dot (\`(1.0).pg_sleep\` is a call), texts of more than 10,000 characters, more than 500 levels of
  nesting, and what could make values of more than 128 MiB out of a few characters.

This page is made by \`npm run functions\` from the catalogs of PostgreSQL 14 to 18, and from a short list by hand. A test
holds that it says what the service does.
`;

export async function functionsPage(): Promise<string> {
  const chosen = new Set(namesOf(CHOSEN_FUNCTIONS));
  const steady = [...OWN_NAMES.functions].filter((name) => !chosen.has(name));
  const text = [
    INTRODUCTION,
    '## Functions chosen by hand\n',
    'They are not immutable, at least in one overload or in one release, and allowed all the same.\n',
    bullets(CHOSEN_FUNCTIONS),
    'With arguments that are written out:\n',
    bullets(GUARDED_FUNCTIONS),
    '## Functions of extensions\n',
    "Of the trusted extensions of PostgreSQL's own distribution; and of PostGIS, for tables with a column of its types.\n",
    ...[...NAMES_OF_EXTENSIONS].flatMap(([name, names]) => extension(name, names)),
    '## Immutable functions that are refused\n',
    bullets(REFUSED_FUNCTIONS),
    '## Types of PostgreSQL\n',
    `${code(OWN_NAMES.types)}\n`,
    'And arrays of them. Refused:\n',
    bullets(REFUSED_TYPES),
    '## Immutable functions of PostgreSQL\n',
    'Every overload of each is immutable in PostgreSQL 14, 15, 16, 17 and 18, as far as the release has it.\n',
    ...byLetter(steady),
  ].join('\n');
  const path = fileURLToPath(PAGE);
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}

function bullets(groups: readonly Group[]): string {
  return groups.map(({ why, names }) => `- ${code(names)}: ${why}.\n`).join('');
}

function extension(name: string, { functions }: AllowedNames): string[] {
  if (functions.size === 0) return [];
  const chosen = CHOSEN_EXTENSION_FUNCTIONS.get(name);
  const refused = REFUSED_EXTENSION_FUNCTIONS.get(name);
  const why = chosen === undefined ? '' : ` By hand, because ${chosen.why}: ${code(chosen.names)}.`;
  const but = refused === undefined ? '' : ` Refused, because ${refused.why}: ${code(refused.names)}.`;
  return [`- **${name}**: ${code(functions)}.${why}${but}\n`];
}

function byLetter(names: readonly string[]): string[] {
  const letters = new Map<string, string[]>();
  for (const name of [...names].sort()) letters.set(name.charAt(0), [...(letters.get(name.charAt(0)) ?? []), name]);
  return [...letters.values()].map((list) => `- ${code(list)}\n`);
}

const code = (names: Iterable<string>): string => [...names].map((name) => `\`${name}\``).join(', ');
