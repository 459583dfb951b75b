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

const OWN = 'CREATE POLICY own ON posts TO ada, "Tim" USING (owner = current_user)';
const ENABLE = 'ALTER TABLE posts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY';

describe('the definition of a policy', () => {
  it('has an id with its table, and names its roles, relations and functions', () => {
    const definition = parsed(
      'CREATE POLICY "a ON ""b""" ON public."my posts" AS RESTRICTIVE FOR UPDATE TO b, a, b USING (f(x)) WITH CHECK (EXISTS (SELECT 1 FROM teams))',
    );
    expect(definition).to.deep.include({ kind: 'policy', id: '"a ON ""b""" on public."my posts"', schema: 'public' });
    expect(definition.policy).to.deep.equal({
      command: 'update',
      isPermissive: false,
      roles: ['a', 'b'],
      isAlwaysTrue: false,
    });
    expect(definition.relations.map(({ name }) => name)).to.deep.equal(['my posts', 'teams']);
    expect(definition.calls.map(({ name }) => name)).to.deep.equal(['f']);
  });

  it('is the same with a different spelling and order of roles, but not with another role, command or condition', () => {
    const spelled = 'create policy own on posts as permissive for all to "Tim", ADA using ((owner = current_user))';
    expect(isSameDefinition(OWN, spelled)).to.equal(true);
    for (const other of [
      OWN.replace('ada', 'eve'),
      OWN.replace('TO ada, "Tim" ', ''),
      OWN.replace('TO', 'FOR SELECT TO'),
      OWN.replace('TO', 'AS RESTRICTIVE TO'),
      OWN.replace('owner =', 'editor ='),
    ])
      expect(isSameDefinition(OWN, other), other).to.equal(false);
  });

  it('accepts another name and another table, and keeps the rest of its text', () => {
    expect(renamedDefinition(`CREATE POLICY "a b"ON"c d"USING (x <> ' ON "c d"')`, 'plain on posts')).to.equal(
      `CREATE POLICY plain ON posts USING (x <> ' ON "c d"')`,
    );
    expect(renamedDefinition('ALTER TABLE ONLY "a b"FORCE ROW LEVEL SECURITY', 'Posts')).to.equal(
      'ALTER TABLE "Posts" FORCE ROW LEVEL SECURITY',
    );
  });

  for (const text of [
    OWN.replace('ada', 'SESSION_USER'),
    `${OWN}; SELECT 1`,
    OWN.replace('POLICY', 'POLICY /* a */'),
    OWN.replace('owner = current_user', 'EXISTS (SELECT * FROM teams)'),
    ENABLE.replace('TABLE', 'TABLE IF EXISTS'),
    ENABLE.replace('FORCE', 'NO FORCE'),
    ENABLE.replace(/,.*/, ', OWNER TO ada'),
    ENABLE.replace('TABLE', 'VIEW'),
  ])
    it(`rejects ${text}`, () => {
      expect(parseDefinition(text)).to.be.a('string');
    });

  it('is row security with either switch or both, in any order', () => {
    expect(parsed(ENABLE)).to.deep.include({ kind: 'row_security', id: 'posts' });
    const swapped = 'alter table posts force row level security, enable row level security';
    expect(isSameDefinition(ENABLE, swapped)).to.equal(true);
    expect(isSameDefinition(ENABLE, ENABLE.replace(/,.*/, ''))).to.equal(false);
  });

  it('is written to a file with its comment, and read back', () => {
    const policy = { kind: 'policy' as const, id: 'own on posts', definition: OWN, comment: 'Own rows' };
    const text = writeObjectFile(policy);
    expect(text).to.equal(`${OWN};\nCOMMENT ON POLICY own ON posts IS 'Own rows';\n`);
    expect(readObjectFile(text)).to.have.deep.property('object', policy);
    const security = { kind: 'row_security' as const, id: 'posts', definition: ENABLE, comment: null };
    expect(readObjectFile(writeObjectFile(security))).to.have.deep.property('object', security);
    expect(readObjectFile(`${ENABLE};\nCOMMENT ON TABLE posts IS 'x';`)).to.include({
      message: 'no other statement can follow the definition',
    });
  });
});
