import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { PAGE, functionsPage } from '../../../scripts/docs/functions/page.js';
import { readCatalog } from '../../../scripts/docs/functions/catalog.js';
import {
  NAMES_OF_EXTENSIONS,
  OWN_NAMES,
  CHOSEN_EXTENSION_FUNCTIONS,
  CHOSEN_FUNCTIONS,
  GUARDED_FUNCTIONS,
  namesOf,
  REFUSED_EXTENSION_FUNCTIONS,
  REFUSED_FUNCTIONS,
  REFUSED_TYPES,
} from '../../../src/schema/sql-text/allowed-names.js';
import { type TextKind, checkSqlText } from '../../../src/schema/sql-text/check-sql-text.js';
import { textContextOfTable } from '../../../src/schema/sql-text/expression.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';

const CHOSEN = new Set(namesOf(CHOSEN_FUNCTIONS));
const GUARDED = new Set(namesOf(GUARDED_FUNCTIONS));

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Each kind of text with a call in it. */
const WAYS: readonly [TextKind, (call: string) => string][] = [
  ['expression', (call) => call],
  ['constraint', (call) => `CHECK (${call} IS NOT NULL)`],
  ['index', (call) => `USING btree ((${call}))`],
  ['index', (call) => `USING btree (a) WHERE ${call} IS NOT NULL`],
  ['partition key', (call) => `LIST ((${call}))`],
  ['partition bound', (call) => `FOR VALUES IN (${call})`],
];

interface Row {
  name: string;
  /** The number of arguments of the least stable variant. */
  args: number;
}

describe('functions that SQL may call', () => {
  let database: TestDatabase;
  let client: pg.Client;

  before(async () => {
    database = await createDatabase();
    client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await database.drop();
  });

  const functions = async (where: string): Promise<Row[]> => {
    const text = `SELECT DISTINCT ON (p.proname) p.proname::text AS name, p.pronargs::int AS args FROM pg_catalog.pg_proc p
      WHERE p.pronamespace = 'pg_catalog'::regnamespace AND (${where}) ORDER BY p.proname, p.pronargs`;
    return (await client.query<Row>(text)).rows;
  };

  it('are exactly the functions that docs/functions.md lists', async () => {
    expect(await readFile(PAGE, 'utf8')).to.equal(await functionsPage());
  });

  it('are immutable on this server, or listed by hand', async () => {
    const unsteady = await functions("p.provolatile <> 'i' OR p.prokind <> 'f' OR p.proretset");
    const allowed = unsteady.filter(({ name }) => OWN_NAMES.functions.has(name) && !CHOSEN.has(name));
    expect(allowed).to.deep.equal([]);
  });

  it('are listed by hand only if that differs from the rule', async () => {
    const named = (groups: Parameters<typeof namesOf>[0]) => namesOf(groups).sort();
    for (const groups of [CHOSEN_FUNCTIONS, GUARDED_FUNCTIONS, REFUSED_FUNCTIONS, REFUSED_TYPES]) {
      expect(named(groups)).to.deep.equal([...new Set(named(groups))]);
    }
    for (const name of namesOf(CHOSEN_FUNCTIONS)) expect(OWN_NAMES.functions.has(name), name).to.equal(true);
    for (const name of [...namesOf(REFUSED_FUNCTIONS), ...GUARDED]) {
      expect(OWN_NAMES.functions.has(name), name).to.equal(false);
    }
    for (const name of namesOf(REFUSED_TYPES)) expect(OWN_NAMES.types.has(name), name).to.equal(false);
    for (const [extension, { names }] of REFUSED_EXTENSION_FUNCTIONS) {
      for (const name of names) expect(NAMES_OF_EXTENSIONS.get(extension)?.functions.has(name), name).to.equal(false);
    }
  });

  it('are rejected everywhere if volatile or stable and not listed', async () => {
    const unsteady = (await functions("p.provolatile <> 'i'")).filter(({ name }) => !CHOSEN.has(name));
    expect(unsteady.length).to.be.greaterThan(500);
    const needs = [...NAMES_OF_EXTENSIONS.keys()].map((name) => ({ kind: 'extension' as const, name }));
    const around = textContextOfTable({ collection: 't', columns: [{ name: 'a', type: 'text' }], needs });
    const taken = new Set([...NAMES_OF_EXTENSIONS.values()].flatMap((names) => [...names.functions]));
    const passed: string[] = [];
    for (const { name, args } of unsteady) {
      const list = Array.from({ length: args }, () => 'a').join(', ');
      const own = `pg_catalog.${quoted(name)}(${list})`;
      // An extension that the table needs may have a listed function with the same name.
      const spellings = taken.has(name) ? [own] : [own, `${quoted(name)}(${list})`, `("a").${quoted(name)}`];
      const texts = spellings.flatMap((spelling) => WAYS.map(([kind, textOf]) => [kind, textOf(spelling)] as const));
      passed.push(...texts.filter(([kind, text]) => checkSqlText(kind, text, around) === null).map(String));
    }
    expect(passed).to.deep.equal([]);
  });

  it('are immutable on this server, or listed by hand, if an extension provides them', async () => {
    const { extensions, operators, operatorClasses } = await readCatalog(client);
    for (const [extension, { functions: brought }] of extensions) {
      const chosen = new Set(CHOSEN_EXTENSION_FUNCTIONS.get(extension)?.names);
      const steady = new Set(
        brought.filter((each) => each.callable && each.volatility === 'immutable').map(({ name }) => name),
      );
      const known = new Set(brought.map(({ name }) => name));
      const allowed = [...(NAMES_OF_EXTENSIONS.get(extension)?.functions ?? [])].filter((name) => known.has(name));
      expect(
        allowed.filter((name) => !steady.has(name) && !chosen.has(name)),
        extension,
      ).to.deep.equal([]);
    }
    for (const name of OWN_NAMES.operators) expect(operators, name).to.include(name);
    for (const name of OWN_NAMES.operatorClasses) expect(operatorClasses, name).to.include(name);
  });
});
