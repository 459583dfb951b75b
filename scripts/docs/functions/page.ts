/** Writes docs/functions.md: the names that SQL text in requests may use. */
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import {
  NAMES_OF_EXTENSIONS,
  OWN_NAMES,
  type AllowedNames,
  CHOSEN_EXTENSION_FUNCTIONS,
  CHOSEN_FUNCTIONS,
  GUARDED_FUNCTIONS,
  type Group,
  namesOf,
  REFUSED_EXTENSION_FUNCTIONS,
  REFUSED_FUNCTIONS,
  REFUSED_TYPES,
} from '../../../src/schema/sql-text/allowed-names.js';

export const PAGE = new URL('../../../docs/functions.md', import.meta.url);

const INTRODUCTION = `# SQL in requests

On this page you can look up which functions, types and operators SQL text in requests may use.

Requests can contain SQL text in defaults, checks, expressions of generated columns, indexes and their \`WHERE\` clauses,
partition keys and domain constraints (\`schema.generation_expression\`, \`schema.extras\`). PostgreSQL evaluates this text
with the privileges of the service. The service therefore parses this SQL with PostgreSQL's own parser. If the SQL uses anything
that this page does not list, the service rejects the request with 400 and the location. It never runs rejected SQL, not
even in a dry run.

The service checks new and changed SQL. It does not reject SQL that is already in the log or in adopted tables. If an
adopted table uses SQL that this page does not list, no snapshot contains that SQL, and the response to the adoption lists it.

| object | allowed |
| --- | --- |
| partition bounds | constants: literals, \`MINVALUE\`, \`MAXVALUE\`, and casts of literals to PostgreSQL types |
| types | PostgreSQL's own (below), those that the table lists in \`needs\` (enums, domains, types of an extension), and those of its columns. \`regconfig\` accepts a literal that names a configuration of PostgreSQL: \`'english'::regconfig\` |
| functions | those below, with or without \`pg_catalog.\`, but with no other schema. If an extension provides the function, the table must list the extension in \`needs\` |
| operators, operator classes | PostgreSQL's own, unless they call a volatile function, and those of extensions that the table lists in \`needs\` |
| never | subqueries, parameters, aggregates, window functions, functions that return rows, comments, XML, dot access to a value (\`(1.0).pg_sleep\` is a call), more than 10,000 characters, more than 500 nested levels, and SQL that could create values of more than 128 MiB |

\`npm run docs -- functions\` writes this page from the catalogs of PostgreSQL 14 to 18 and from a short manual list. A test compares
the page with the lists in the service.
`;

export async function functionsPage(): Promise<string> {
  const chosen = new Set(namesOf(CHOSEN_FUNCTIONS));
  const steady = [...OWN_NAMES.functions].filter((name) => !chosen.has(name));
  const text = [
    INTRODUCTION,
    '## Functions chosen by hand\n',
    'The service allows these functions although not every overload is immutable in every release.\n',
    bullets(CHOSEN_FUNCTIONS),
    'The service allows these functions only with literal arguments:\n',
    bullets(GUARDED_FUNCTIONS),
    '## Functions of extensions\n',
    "The service allows these functions of the trusted extensions in PostgreSQL's distribution. It allows those of PostGIS only for tables with a column of a PostGIS type.\n",
    ...[...NAMES_OF_EXTENSIONS].flatMap(([name, names]) => extension(name, names)),
    '## Immutable functions that are rejected\n',
    bullets(REFUSED_FUNCTIONS),
    '## Types of PostgreSQL\n',
    `${code(OWN_NAMES.types)}\n`,
    'Arrays of these types are also allowed. The service rejects these types:\n',
    bullets(REFUSED_TYPES),
    '## Immutable functions of PostgreSQL\n',
    'Every overload of these functions is immutable in every release of PostgreSQL from 14 to 18 that has it.\n',
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
  const why = chosen === undefined ? '' : ` Added manually, because ${chosen.why}: ${code(chosen.names)}.`;
  const but = refused === undefined ? '' : ` Rejected, because ${refused.why}: ${code(refused.names)}.`;
  return [`- **${name}**: ${code(functions)}.${why}${but}\n`];
}

function byLetter(names: readonly string[]): string[] {
  const letters = new Map<string, string[]>();
  for (const name of [...names].sort()) letters.set(name.charAt(0), [...(letters.get(name.charAt(0)) ?? []), name]);
  return [...letters.values()].map((list) => `- ${code(list)}\n`);
}

const code = (names: Iterable<string>): string => [...names].map((name) => `\`${name}\``).join(', ');
