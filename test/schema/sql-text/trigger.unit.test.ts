import { expect } from 'chai';
import {
  canReplace,
  isSameDefinition,
  parseDefinition,
  renamedDefinition,
} from '../../../src/schema/sql-text/object-definition.js';

const parsed = (text: string) => {
  const result = parseDefinition(text);
  if (typeof result === 'string') throw new Error(result);
  return result;
};

const MARK = 'CREATE TRIGGER mark BEFORE INSERT ON posts FOR EACH ROW EXECUTE FUNCTION mark()';

describe('the definition of a trigger', () => {
  for (const [written, id] of [
    ['mark AFTER DELETE ON posts', 'mark on posts'],
    ['"On" AFTER DELETE ON public."my posts"', '"On" on public."my posts"'],
    ['"a on ""b"""AFTER DELETE ON"c on d"', '"a on ""b""" on "c on d"'],
    ['select_ AFTER UPDATE OF a, "ON b" OR TRUNCATE ON Posts', 'select_ on posts'],
  ] as const)
    it(`has the id ${id} if it is written ${written}`, () => {
      expect(parsed(`CREATE TRIGGER ${written} EXECUTE FUNCTION f()`)).to.deep.include({ kind: 'trigger', id });
    });

  it('names its table, the table of FROM and its function', () => {
    const definition = parsed(
      'CREATE CONSTRAINT TRIGGER t AFTER INSERT ON public.a FROM b FOR EACH ROW WHEN (g(new.c)) EXECUTE FUNCTION s.f()',
    );
    expect(definition.schema).to.equal('public');
    expect(definition.relations).to.deep.equal([
      { schema: 'public', name: 'a' },
      { schema: undefined, name: 'b' },
    ]);
    expect(definition.calls.map(({ name }) => name)).to.deep.equal(['f', 'g']);
  });

  it('is the same with a different spelling, but not with another event, condition or argument', () => {
    const spelled = 'create or replace trigger mark before insert on posts for each row execute procedure mark()';
    expect(isSameDefinition(MARK, spelled)).to.equal(true);
    for (const other of [
      MARK.replace('INSERT', 'UPDATE'),
      MARK.replace('FOR EACH ROW', ''),
      MARK.replace('EXECUTE', 'WHEN (new.a > 1) EXECUTE'),
      MARK.replace('mark()', "mark('a')"),
    ])
      expect(isSameDefinition(MARK, other), other).to.equal(false);
    expect(canReplace(MARK, spelled)).to.equal(false);
  });

  it('accepts another name and another table, and keeps the rest of its text', () => {
    const text = `CREATE CONSTRAINT TRIGGER "a b"AFTER INSERT /* ON a */ ON"c d"FOR EACH ROW WHEN (new.x <> ' ON "c d"') EXECUTE FUNCTION f()`;
    expect(renamedDefinition(text, 'plain on posts')).to.equal(
      `CREATE CONSTRAINT TRIGGER plain AFTER INSERT /* ON a */ ON posts FOR EACH ROW WHEN (new.x <> ' ON "c d"') EXECUTE FUNCTION f()`,
    );
    expect(renamedDefinition(MARK, '"ON" on "Posts"')).to.equal(
      MARK.replace('TRIGGER mark', 'TRIGGER "ON"').replace('posts', '"Posts"'),
    );
  });

  for (const [title, text] of [
    ['a comment before the name', MARK.replace('mark', '/* a */ mark')],
    ['a name with U&', MARK.replace('TRIGGER mark', 'TRIGGER U&"mark"')],
    ['a table with U&', MARK.replace('posts', 'U&"posts"')],
    ['a database', MARK.replace('posts', 'd.public.posts')],
    ['a second statement', `${MARK}; DROP TABLE posts`],
    ['an event trigger', 'CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f()'],
  ] as const)
    it(`is rejected with ${title}`, () => {
      expect(parseDefinition(text)).to.be.a('string');
    });
});
