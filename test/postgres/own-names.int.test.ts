/** Functions in the service's own SQL must be qualified, so that no function of another user is called. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pg from 'pg';
import { type Node, Visitor, parseSync } from 'oxc-parser';
import { testServer } from '../support/postgres.js';

const ROOT = new URL('../../', import.meta.url);

/** Files in which function names are not calls: lists for requests, and pages. */
const OTHERWISE = /^src\/(web|http\/openapi|cli\/(help|declarations)|schema)\//;

/** Call-like keywords that PostgreSQL resolves in `pg_catalog` only, or that are not functions. */
const KEYWORDS = new Set(
  'bit char decimal extract interval numeric overlay position substring time timestamp timestamptz varchar'.split(' '),
);

const CALL = /(?<![\w."'$@-])([a-z_][a-z0-9_]*)\((?!\s*\*?\s*\))/g;

/** Texts of a file that may be SQL, with their first line. */
function textsOf(file: string, source: string): { text: string; line: number }[] {
  if (file.endsWith('.sql'))
    return source.split('\n').map((text, index) => ({ text: text.replace(/--.*/, ''), line: index + 1 }));
  const texts: { text: string; line: number }[] = [];
  const add = ({ start, end }: Node): void => {
    texts.push({ text: source.slice(start, end), line: source.slice(0, start).split('\n').length });
  };
  const visitor = new Visitor({
    TemplateLiteral: add,
    Literal: (node) => {
      if (typeof node.value === 'string') add(node);
    },
  });
  visitor.visit(parseSync(file, source).program);
  return texts;
}

describe('functions in the service’s own SQL', () => {
  it('are qualified with pg_catalog if they take arguments', async () => {
    const client = new pg.Client((await testServer()).connectionString);
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      `SELECT DISTINCT proname::text AS name FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace`,
    );
    await client.end();
    const known = new Set(rows.map(({ name }) => name).filter((name) => !KEYWORDS.has(name)));
    const files = ['src', 'db'].flatMap((folder) =>
      readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    );
    const bare = files
      .filter((file) => /\.(ts|sql)$/.test(file) && !OTHERWISE.test(file))
      .flatMap((file) => {
        const source = readFileSync(fileURLToPath(new URL(file, ROOT)), 'utf8');
        return textsOf(file, source).flatMap(({ text, line }) => {
          const written = text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '$1');
          return [...written.matchAll(CALL)].flatMap(([, name = '']) =>
            known.has(name) ? [`${file}:${line} ${name}`] : [],
          );
        });
      });
    expect(bare).to.deep.equal([]);
  });
});
