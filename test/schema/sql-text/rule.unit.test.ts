import { expect } from 'chai';
import {
  isSameDefinition,
  parseDefinition,
  renamedDefinition,
} from '../../../src/schema/sql-text/object-definition.js';
import { readObjectFile, writeObjectFile } from '../../../src/schema/sql-text/object-file.js';

const parsed = (text: string) => {
  const result = parseDefinition(text);
  if (typeof result === 'string') throw new Error(result);
  return result;
};

const sorted = (names: readonly string[] = []): string => [...names].sort().join('');

const LOG = 'CREATE RULE log AS ON UPDATE TO posts WHERE new.a <> old.a DO ALSO INSERT INTO logs (a) VALUES (old.a)';

describe('the definition of a rule', () => {
  for (const [written, id] of [
    ['log AS ON INSERT TO posts', 'log on posts'],
    ['"On" AS ON INSERT TO public."my posts"', '"On" on public."my posts"'],
    ['"a on ""b"""AS ON INSERT TO"c on d"', '"a on ""b""" on "c on d"'],
    ['rule_ as /* TO a */ on delete to Posts', 'rule_ on posts'],
  ] as const)
    it(`has the id ${id} if it is written ${written}`, () => {
      expect(parsed(`CREATE RULE ${written} DO NOTHING`)).to.deep.include({ kind: 'rule', id });
    });

  it('names its table, and the relations that its condition and its commands read or write', () => {
    const definition = parsed(
      `CREATE RULE r AS ON UPDATE TO public.a WHERE EXISTS (SELECT 1 FROM b) DO INSTEAD (
         INSERT INTO c (x) SELECT y FROM d; UPDATE e SET x = f(old.y) FROM g; DELETE FROM h USING s.i; NOTIFY j;
         WITH k AS (DELETE FROM l RETURNING id), m AS (SELECT 1 AS id) INSERT INTO m (x) SELECT id FROM k)`,
    );
    expect(definition.schema).to.equal('public');
    expect(definition.relations[0]).to.deep.equal({ schema: 'public', name: 'a' });
    expect(sorted(definition.relations.map(({ name }) => name))).to.equal('abcdeghiklm');
    expect(sorted(definition.rule?.relations)).to.equal('bcdeghlms.i');
    expect(sorted(definition.rule?.written)).to.equal('cehlm');
    expect(definition.calls.map(({ name }) => name)).to.deep.equal(['f']);
  });

  it('is the same with a different spelling, but not with another event, condition or command', () => {
    const spelled = LOG.replace('CREATE RULE', 'create or replace rule')
      .replace('ALSO', '')
      .replace('new.a', '(NEW.a)');
    expect(isSameDefinition(LOG, spelled)).to.equal(true);
    for (const other of [
      LOG.replace('UPDATE', 'DELETE'),
      LOG.replace('ALSO', 'INSTEAD'),
      LOG.replace('<>', '='),
      LOG.replace('(old.a)', '(new.a)'),
      LOG.replace('INTO logs', 'INTO others'),
      `${LOG.replace('ALSO ', 'ALSO (')}; NOTIFY a)`,
    ])
      expect(isSameDefinition(LOG, other), other).to.equal(false);
  });

  it('accepts another name and another table, and keeps the rest of its text', () => {
    const text = `CREATE RULE "a b"AS ON UPDATE /* TO a */ TO"c d"WHERE new.x <> ' TO "c d"' DO ALSO UPDATE "c d" SET x = 1`;
    expect(renamedDefinition(text, 'plain on posts')).to.equal(
      `CREATE RULE plain AS ON UPDATE /* TO a */ TO posts WHERE new.x <> ' TO "c d"' DO ALSO UPDATE "c d" SET x = 1`,
    );
    expect(renamedDefinition(LOG, '"ON" on "Posts"')).to.equal(
      LOG.replace('RULE log', 'RULE "ON"').replace('TO posts', 'TO "Posts"'),
    );
  });

  for (const [title, text, fault] of [
    ['a comment before the name', LOG.replace('log', '/* a */ log'), 'without comments'],
    ['a table with U&', LOG.replace('TO posts', 'TO U&"posts"'), 'or U&'],
    ['a database', LOG.replace('TO posts', 'TO d.public.posts'), 'must not name a database'],
    ['a second statement', `${LOG}; DROP TABLE posts`, 'exactly one statement'],
    ['the query of a view', 'CREATE RULE r AS ON SELECT TO a DO INSTEAD SELECT 1', 'Create a view instead'],
    ['the name of that query', LOG.replace('RULE log', 'RULE "_RETURN"'), 'must not have the name _RETURN'],
    ['an INSERT without columns', LOG.replace(' (a)', ''), 'columns of INSERT'],
    ['a star in VALUES', LOG.replace('(old.a)', '(old.*)'), 'instead of *'],
    ['a star in a query', LOG.replace('VALUES (old.a)', 'SELECT old.*'), 'instead of *'],
    ['a star in RETURNING', `${LOG} RETURNING *`, 'instead of *'],
    ['another command', 'CREATE RULE r AS ON INSERT TO a DO ALSO TRUNCATE b', 'valid PostgreSQL'],
  ] as const)
    it(`cannot contain ${title}`, () => {
      expect(parseDefinition(text)).to.be.a('string').and.contain(fault);
    });

  for (const enabled of ['origin', 'disabled', 'replica', 'always'] as const)
    it(`is written to a file and read back with the enabled state ${enabled}`, () => {
      const object = { kind: 'rule', id: 'log on posts', definition: LOG, comment: 'Logs', enabled } as const;
      expect(readObjectFile(writeObjectFile(object))).to.deep.include({ object });
    });
});
