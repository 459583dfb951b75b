import { expect } from 'chai';
import { functionWarnings, findMentioningFunctions } from '../../../src/projector/catalog/table-facts.js';
import { withPool } from '../../support/with-pool.js';

describe('functions that mention a name', () => {
  const { pool } = withPool();

  const body = (name: string, text: string, schema = 'public'): string =>
    `CREATE FUNCTION ${schema}.${name}() RETURNS text LANGUAGE plpgsql AS ${`'${text.replaceAll("'", "''")}'`}`;

  before(async () => {
    await pool().query('CREATE SCHEMA other');
    for (const statement of [
      body('plain', 'BEGIN RETURN (SELECT title FROM posts LIMIT 1); END'),
      body('"Quoted"', 'BEGIN RETURN (SELECT 1 FROM "POSTS"); END', 'other'),
      body('within', 'BEGIN RETURN my_posts || posts2 || posts$; END'),
      body('odd', 'BEGIN RETURN "a.b" || "x$1"; END'),
      `CREATE FUNCTION sql_one() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint -- of posts'`,
    ])
      await pool().query(statement);
  });

  const functionsNaming = async (...names: string[]): Promise<string[]> =>
    (await findMentioningFunctions(pool(), names)).map(({ name, mentions }) => `${name}: ${mentions}`);

  it('contain it as a whole word, in any case', async () => {
    expect(await functionsNaming('posts')).to.deep.equal([
      'other."Quoted": posts',
      'public.plain: posts',
      'public.sql_one: posts',
    ]);
    expect(await functionsNaming('title', 'posts')).to.deep.equal([
      'other."Quoted": posts',
      'public.plain: posts',
      'public.plain: title',
      'public.sql_one: posts',
    ]);
    expect(await functionsNaming('post')).to.deep.equal([]);
    expect(await functionsNaming()).to.deep.equal([]);
  });

  it('are matched literally, even for regular expression characters', async () => {
    expect(await functionsNaming('a.b')).to.deep.equal(['public.odd: a.b']);
    expect(await functionsNaming('a%b', 'a_b', '.*')).to.deep.equal([]);
  });

  it('exclude functions of PostgreSQL, extensions and the service itself', async () => {
    expect(await functionsNaming('update', 'reason')).to.deep.equal([]);
    expect(await functionsNaming('select')).to.deep.equal([
      'other."Quoted": select',
      'public.plain: select',
      'public.sql_one: select',
    ]);
  });

  it('are reported with advice', () => {
    expect(functionWarnings([{ name: 'public.plain', mentions: 'posts' }])).to.deep.equal([
      {
        code: 'NAME_STILL_USED',
        message: 'the body of the function public.plain contains "posts". If it means the renamed object, change it',
      },
    ]);
  });
});
