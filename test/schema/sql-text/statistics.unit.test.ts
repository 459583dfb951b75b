import { expect } from 'chai';
import {
  definitionOnTable,
  isSameDefinition,
  parseDefinition,
  renamedDefinition,
} from '../../../src/schema/sql-text/object-definition.js';
import { readObjectFile, writeObjectFile } from '../../../src/schema/sql-text/object-file.js';
import type { SchemaObject } from '../../../src/schema/model/object-document.js';

const parsed = (text: string) => {
  const result = parseDefinition(text);
  if (typeof result === 'string') throw new Error(result);
  return result;
};

const CITIES = 'CREATE STATISTICS cities (ndistinct, mcv) ON city, zip FROM posts';

describe('the definition of a statistics object', () => {
  it('has its name as the id, and names its table, columns and functions', () => {
    const definition = parsed(
      'CREATE STATISTICS public."a ON ""b""" ON "My city", (lower(zip)), f(t.age, zip) FROM public."my posts"',
    );
    expect(definition).to.deep.include({ kind: 'statistics', id: 'public."a ON ""b"""', schema: 'public' });
    expect(definition.onTable?.name).to.equal('my posts');
    expect([...(definition.statistics?.columns ?? [])].sort()).to.deep.equal(['My city', 'age', 'zip']);
    expect(definition.relations.map(({ name }) => name)).to.deep.equal(['my posts']);
    expect(definition.calls.map(({ name }) => name).sort()).to.deep.equal(['f', 'lower']);
  });

  it('is the same with a different order of kinds or columns, but not with other kinds, columns or another table', () => {
    const spelled = 'create statistics "cities"(mcv,ndistinct)on "zip", CITY from posts -- all';
    expect(isSameDefinition(CITIES, spelled)).to.equal(true);
    for (const other of [
      CITIES.replace(', mcv', ''),
      CITIES.replace(' (ndistinct, mcv)', ''),
      CITIES.replace('zip', '(zip)'),
      CITIES.replace('zip', 'age'),
      CITIES.replace('posts', 'pages'),
    ])
      expect(isSameDefinition(CITIES, other), other).to.equal(false);
  });

  it('accepts another name and another table, and keeps the rest of its text', () => {
    const text = `CREATE STATISTICS public."a b"(mcv)ON x,(y||' FROM "c d"')FROM"c d"`;
    expect(renamedDefinition(text, 'Plain')).to.equal(
      `CREATE STATISTICS "Plain" (mcv)ON x,(y||' FROM "c d"')FROM "c d"`,
    );
    const object: SchemaObject = { kind: 'statistics', id: 'a b', definition: text, comment: null };
    expect(definitionOnTable(object, 'posts')).to.equal(
      `CREATE STATISTICS "a b" (mcv)ON x,(y||' FROM "c d"')FROM posts`,
    );
  });

  for (const [text, message] of [
    [`${CITIES}; SELECT 1`, 'exactly one statement'],
    [CITIES.replace('posts', 'posts, authors'), 'one table'],
    [CITIES.replace('posts', 'posts JOIN authors USING (id)'), 'one table'],
    [CITIES.replace('posts', 'ONLY posts'), 'without ONLY'],
    [CITIES.replace('posts', 'posts AS p'), 'alias'],
    [CITIES.replace('STATISTICS', 'STATISTICS IF NOT EXISTS'), 'IF NOT EXISTS'],
    [CITIES.replace('cities (ndistinct, mcv)', ''), 'must name the statistics object'],
    [CITIES.replace('cities', 'a.cities').replace('posts', 'b.posts'), 'schema of its table'],
    [CITIES.replace('cities', 'a.b.cities'), 'database'],
    [CITIES.replace('STATISTICS', 'STATISTICS /* a */'), 'without comments'],
  ] as const)
    it(`rejects ${text}`, () => {
      expect(parseDefinition(text)).to.be.a('string').that.contains(message);
    });

  it('is written to a file with its comment, and read from it', () => {
    const object: SchemaObject = {
      kind: 'statistics',
      id: 'Cities',
      definition: CITIES.replace('cities', '"Cities"'),
      comment: 'Zip codes',
    };
    const text = writeObjectFile(object);
    expect(text).to.contain(`COMMENT ON STATISTICS "Cities" IS 'Zip codes';`);
    expect(readObjectFile(text)).to.deep.include({ object });
    expect(readObjectFile(text.replace('STATISTICS "Cities"', 'STATISTICS others'))).to.have.property('message');
  });
});
