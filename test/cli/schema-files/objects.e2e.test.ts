import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dps } from '../../support/dps.js';
import { withService } from '../../support/with-service.js';

const ADULTS = 'CREATE VIEW adults AS\n  SELECT id, name FROM members WHERE age > 17 -- of age';
const TOTALS = 'CREATE MATERIALIZED VIEW "All totals" AS SELECT count(*) AS members FROM members';
const INDEX = { name: 'totals_members', unique: true, definition: 'USING btree (members)' };

describe('files of views', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-object-files-'));
    await api.ok('POST', '/collections', {
      collection: 'members',
      schema: {},
      fields: [
        { field: 'name', type: 'string', interface: 'input' },
        { field: 'age', type: 'integer', interface: 'input' },
      ],
    });
    await api.ok('POST', '/objects', { kind: 'view', definition: ADULTS, comment: 'Adults' });
    await api.ok('POST', '/objects', { kind: 'materialized_view', definition: TOTALS, indexes: [INDEX] });
    expect((await run('pull')).out).to.equal('1 collection and 2 objects: 4 files written, 0 removed.');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const run = (command: string, ...options: string[]) =>
    dps([command, ...options, folder], { DPS_URL: service.url, DPS_TOKEN: service.adminToken });
  const at = (name: string): string => join(folder, 'objects', name);
  const text = (name: string): Promise<string> => readFile(at(name), 'utf8');
  const definitions = async () =>
    (await api.ok<{ data: { id: string; definition: string }[] }>('GET', '/objects')).data.map(({ id, definition }) => [
      id,
      definition,
    ]);

  it('are ordinary SQL, even with CRLF line ends', async () => {
    expect(await text('view.adults.sql')).to.equal(`${ADULTS}\n;\nCOMMENT ON VIEW adults IS 'Adults';\n`);
    expect(await text('materialized_view.%41ll%20totals.sql')).to.equal(
      `${TOTALS};\nCREATE UNIQUE INDEX totals_members ON "All totals" USING btree (members);\n`,
    );
    expect(await run('pull', '--check')).to.include({ code: 0, out: 'The files match the service.' });
    for (const name of await readdir(join(folder, 'objects')))
      await writeFile(at(name), (await text(name)).replaceAll('\n', '\r\n'));
    expect(await run('pull', '--check')).to.include({ code: 0, out: 'The files match the service.' });
    expect(await run('plan')).to.include({ code: 0 });
  });

  it('contain functions with their argument types', async () => {
    const definition =
      'CREATE FUNCTION "Of age"(years integer, unit text) RETURNS boolean LANGUAGE sql AS $$ SELECT years > 17; $$';
    await api.ok('POST', '/objects', { kind: 'function', definition, comment: 'Adult' });
    await run('pull');
    const name = 'function.%22%4ff%20age%22%28integer%2c%20text%29.sql';
    expect(await text(name)).to.equal(`${definition};\nCOMMENT ON FUNCTION "Of age"(integer, text) IS 'Adult';\n`);
    expect(await run('pull', '--check')).to.include({ code: 0 });
    await writeFile(
      at(name),
      `${definition.replace('17', '20')};\nCOMMENT ON FUNCTION "Of age"(int, text) IS 'Adult';\n`,
    );
    await writeFile(at('procedure.nothing%28%29.sql'), "CREATE PROCEDURE nothing() LANGUAGE sql AS '';\n");
    const { code, out } = await run('plan');
    expect([code, ...out.split('\n').filter((line) => /^[-+~]/.test(line))]).to.deep.equal([
      1,
      '~ function "Of age"(integer, text): definition',
      '+ procedure nothing()',
    ]);
    expect((await run('push', '--yes')).code).to.equal(0);
    await writeFile(at(name), `${definition};\nCOMMENT ON FUNCTION "Of age"(text) IS 'Adult';\n`);
    expect((await run('plan')).err).to.contain('the comment must be on function');
  });

  it('contain aggregates with their argument types', async () => {
    const definition = `CREATE AGGREGATE every(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = '0')`;
    const file = `${definition};\nCOMMENT ON AGGREGATE every(*) IS 'Counts';\n`;
    const name = 'aggregate.every%28%29.sql';
    const ordered = 'CREATE AGGREGATE texts(integer ORDER BY text) (SFUNC = array_append, STYPE = text[])';
    await writeFile(at(name), file);
    await writeFile(
      at('aggregate.texts%28integer%2c%20text%29.sql'),
      `${ordered};\nCOMMENT ON AGGREGATE texts(int ORDER BY text) IS 'Texts';\n`,
    );
    const pushed = await run('push', '--yes');
    expect(pushed.code, pushed.err).to.equal(0);
    const { data } = await api.ok<{ data: object[] }>('GET', '/objects?kind=aggregate');
    expect(data).to.deep.equal([
      { kind: 'aggregate', id: 'every()', definition, comment: 'Counts' },
      { kind: 'aggregate', id: 'texts(integer, text)', definition: ordered, comment: 'Texts' },
    ]);
    await run('pull');
    expect(await text(name)).to.equal(file);
    expect(await text('aggregate.texts%28integer%2c%20text%29.sql')).to.equal(
      `${ordered};\nCOMMENT ON AGGREGATE texts(integer, text) IS 'Texts';\n`,
    );
    await api.sql(
      await text('aggregate.texts%28integer%2c%20text%29.sql').then((sql) => sql.replaceAll('texts(', 'others(')),
    );
    await writeFile(at(name), file.replace("'0'", "'1'"));
    expect((await run('plan')).out).to.contain('~ aggregate every(): definition');
    await writeFile(at(name), `${definition};\nCOMMENT ON FUNCTION every() IS 'Counts';\n`);
    expect((await run('plan')).err).to.contain('only COMMENT ON AGGREGATE can follow the definition');
  });

  it('contain triggers with their enabled state', async () => {
    await writeFile(
      at('function.mark%28%29.sql'),
      'CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;\n',
    );
    const definition = 'CREATE TRIGGER mark BEFORE INSERT ON members FOR EACH ROW EXECUTE FUNCTION mark()';
    const file = `${definition};\nALTER TABLE members ENABLE ALWAYS TRIGGER mark;\nCOMMENT ON TRIGGER mark ON members IS 'Marks';\n`;
    await writeFile(at('trigger.mark%20on%20members.sql'), file);
    const pushed = await run('push', '--yes');
    expect(pushed.code, pushed.err).to.equal(0);
    const { data } = await api.ok<{ data: object[] }>('GET', '/objects?kind=trigger');
    expect(data).to.deep.equal([
      { kind: 'trigger', id: 'mark on members', definition, comment: 'Marks', enabled: 'always' },
    ]);
    await run('pull');
    expect(await text('trigger.mark%20on%20members.sql')).to.equal(file);
    await writeFile(
      at('trigger.mark%20on%20members.sql'),
      `${definition};\nCOMMENT ON TRIGGER mark ON members IS 'Marks';\n`,
    );
    const { out } = await run('plan');
    expect(out).to.contain('~ trigger mark on members: enabled');
  });

  it('contain table options', async () => {
    const definition = 'ALTER TABLE members SET (fillfactor = 70), ALTER COLUMN name SET STATISTICS 500';
    const name = 'table_options.members.sql';
    await writeFile(at(name), `${definition};\n`);
    const pushed = await run('push', '--yes');
    expect(pushed.code, pushed.err).to.equal(0);
    const { data } = await api.ok<{ data: object[] }>('GET', '/objects?kind=table_options');
    expect(data).to.deep.equal([{ kind: 'table_options', id: 'members', definition, comment: null }]);
    await run('pull');
    expect(await text(name)).to.equal(`${definition};\n`);
    await writeFile(at(name), `${definition.replace('500', '-1')};\n`);
    expect((await run('plan')).err).to.contain('must omit statistics of column name, because -1 is the default');
    await writeFile(at(name), `${definition.replace('70', '80')};\n`);
    expect((await run('plan')).out).to.contain('~ table options members: definition');
    expect((await run('push', '--yes')).code).to.equal(0);
    await rm(at(name));
    expect((await run('push', '--yes')).code).to.equal(0);
    expect((await api.ok<{ data: object[] }>('GET', '/objects?kind=table_options')).data).to.deep.equal([]);
  });

  it('contain types with their comment and their privileges', async () => {
    const definition = "CREATE TYPE mood AS ENUM ('happy', 'sad')";
    const name = 'type.mood.sql';
    const file = `${definition};\nCOMMENT ON TYPE mood IS 'Feelings';\n`;
    await writeFile(at(name), file);
    await writeFile(at('type.zip.sql'), 'CREATE DOMAIN zip AS text CHECK (length(VALUE) = 5);\n');
    const pushed = await run('push', '--yes');
    expect(pushed.code, pushed.err).to.equal(0);
    const { data } = await api.ok<{ data: object[] }>('GET', '/objects?kind=type');
    expect(data[0]).to.deep.equal({ kind: 'type', id: 'mood', definition, comment: 'Feelings' });
    await run('pull');
    expect(await text(name)).to.equal(file);
    expect(await text('type.zip.sql')).to.equal(
      'CREATE DOMAIN zip AS text CONSTRAINT zip_check CHECK (length(VALUE) = 5);\n',
    );
    const [granted, closed] = ['pg_monitor', 'public'].map((role) => `privileges.${role}%20on%20type%20mood.sql`) as [
      string,
      string,
    ];
    const grants = 'GRANT USAGE ON TYPE mood TO pg_monitor WITH GRANT OPTION;\n';
    await writeFile(at(granted), grants);
    await writeFile(at(closed), 'REVOKE ALL ON DOMAIN mood FROM PUBLIC;\n');
    expect((await run('push', '--yes')).code).to.equal(0);
    await run('pull');
    expect(await text(granted)).to.equal(grants);
    expect(await text(closed)).to.equal('REVOKE USAGE ON TYPE mood FROM PUBLIC;\n');
    await writeFile(at(granted), grants.replace(' WITH GRANT OPTION', ''));
    expect((await run('plan')).out).to.contain('~ privileges pg_monitor on type mood: definition');
    await rm(at(granted));
    await rm(at(closed));
    await writeFile(at(name), file.replace("'sad'", "'sad', 'angry'"));
    expect((await run('plan')).out).to.contain('~ type mood: definition');
    await writeFile(at(name), file.replace('ON TYPE mood', 'ON TYPE others'));
    expect((await run('plan')).err).to.contain('the comment must be on type "mood"');
    await rm(at(name));
    await rm(at('type.zip.sql'));
    expect((await run('push', '--yes')).code).to.equal(0);
    expect((await api.ok<{ data: object[] }>('GET', '/objects?kind=type')).data).to.deep.equal([]);
  });

  it('contain sequences with their comment and their privileges', async () => {
    const definition = 'CREATE SEQUENCE numbers START WITH 1000';
    const name = 'sequence.numbers.sql';
    const file = `${definition};\nCOMMENT ON SEQUENCE numbers IS 'Invoices';\n`;
    await writeFile(at(name), file);
    const pushed = await run('push', '--yes');
    expect(pushed.code, pushed.err).to.equal(0);
    const { data } = await api.ok<{ data: object[] }>('GET', '/objects?kind=sequence');
    expect(data).to.deep.equal([{ kind: 'sequence', id: 'numbers', definition, comment: 'Invoices' }]);
    await run('pull');
    expect(await text(name)).to.equal(file);
    const granted = 'privileges.pg_monitor%20on%20sequence%20numbers.sql';
    const grants =
      'GRANT SELECT ON SEQUENCE numbers TO pg_monitor;\nGRANT USAGE ON SEQUENCE numbers TO pg_monitor WITH GRANT OPTION;\n';
    await writeFile(at(granted), grants);
    expect((await run('push', '--yes')).code).to.equal(0);
    await run('pull');
    expect(await text(granted)).to.equal(grants);
    await writeFile(at(granted), grants.replace('SELECT', 'UPDATE'));
    expect((await run('plan')).out).to.contain('~ privileges pg_monitor on sequence numbers: definition');
    await rm(at(granted));
    await writeFile(at(name), file.replace('1000', '2000'));
    expect((await run('plan')).out).to.contain('~ sequence numbers: definition');
    await writeFile(at(name), file.replace('ON SEQUENCE numbers', 'ON SEQUENCE others'));
    expect((await run('plan')).err).to.contain('the comment must be on sequence "numbers"');
    await rm(at(name));
    expect((await run('push', '--yes')).code).to.equal(0);
    expect((await api.ok<{ data: object[] }>('GET', '/objects?kind=sequence')).data).to.deep.equal([]);
  });

  it('contain rules with their enabled state', async () => {
    const definition = 'CREATE RULE keep AS ON DELETE TO members DO INSTEAD NOTHING';
    const name = 'rule.keep%20on%20members.sql';
    const comment = `COMMENT ON RULE keep ON members IS 'Keeps';\n`;
    const file = `${definition};\nALTER TABLE members ENABLE REPLICA RULE keep;\n${comment}`;
    await writeFile(at(name), file);
    const pushed = await run('push', '--yes');
    expect(pushed.code, pushed.err).to.equal(0);
    const { data } = await api.ok<{ data: object[] }>('GET', '/objects?kind=rule');
    expect(data).to.deep.equal([
      { kind: 'rule', id: 'keep on members', definition, comment: 'Keeps', enabled: 'replica' },
    ]);
    await run('pull');
    expect(await text(name)).to.equal(file);
    await writeFile(at(name), `${definition};\n${comment}`);
    expect((await run('plan')).out).to.contain('~ rule keep on members: enabled');
    await writeFile(at(name), `${definition};\nALTER TABLE members DISABLE TRIGGER keep;\n`);
    expect((await run('plan')).err).to.contain('ALTER TABLE can only enable or disable the rule here');
  });

  it('contain privileges as GRANT statements, which the commands for objects accept too', async () => {
    const name = 'privileges.pg_monitor%20on%20members.sql';
    const file = `GRANT SELECT ON TABLE members TO pg_monitor;\nGRANT UPDATE (age, name) ON TABLE members TO pg_monitor WITH GRANT OPTION;\n`;
    await writeFile(at(name), file);
    const pushed = await run('push', '--yes');
    expect(pushed.code, pushed.err).to.equal(0);
    const { data } = await api.ok<{ data: object[] }>('GET', '/objects?kind=privileges&fields=id,definition');
    const definition = [{ name: 'SELECT' }, { name: 'UPDATE', columns: ['age', 'name'], grantable: true }];
    expect(data).to.deep.equal([{ id: 'pg_monitor on members', definition }]);
    await run('pull');
    expect(await text(name)).to.equal(file);
    await writeFile(at(name), 'GRANT SELECT ON members TO pg_monitor;\n');
    expect((await run('plan')).out).to.contain('~ privileges pg_monitor on members: definition');
    await writeFile(at(name), `${file}COMMENT ON TABLE members IS 'x';\n`);
    expect((await run('plan')).err).to.contain(`objects/${name}:1: the definition must be GRANT statements`);
    const env = { DPS_URL: service.url, DPS_TOKEN: service.adminToken };
    const object = 'privileges:pg_monitor on members';
    expect((await dps(['objects', 'show', object], env)).out).to.equal(file.trimEnd().replace(/;$/, ''));
    await writeFile(at(name), 'GRANT DELETE ON members TO pg_monitor');
    expect((await dps(['objects', 'update', object, at(name)], env)).code).to.equal(0);
    expect((await dps(['objects', 'delete', object], env)).code).to.equal(0);
    expect((await dps(['objects', 'create', at(name)], env)).out).to.contain(`${object} was created`);
  });

  it('contain REVOKE of EXECUTE from PUBLIC, which the commands for objects accept too', async () => {
    const half = `CREATE FUNCTION half(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';\n`;
    await writeFile(at('function.half%28integer%29.sql'), half);
    const name = 'privileges.public%20on%20half%28integer%29.sql';
    const granted = 'privileges.pg_monitor%20on%20half%28integer%29.sql';
    await writeFile(at(name), 'REVOKE ALL ON FUNCTION half(int) FROM PUBLIC;\n');
    await writeFile(at(granted), 'GRANT EXECUTE ON FUNCTION half(int) TO pg_monitor WITH GRANT OPTION;\n');
    const pushed = await run('push', '--yes');
    expect(pushed.code, pushed.err).to.equal(0);
    await run('pull');
    const file = 'REVOKE EXECUTE ON ROUTINE half(integer) FROM PUBLIC;\n';
    expect(await text(name)).to.equal(file);
    expect(await text(granted)).to.equal('GRANT EXECUTE ON ROUTINE half(integer) TO pg_monitor WITH GRANT OPTION;\n');
    await writeFile(at(name), `${file}GRANT EXECUTE ON FUNCTION half(integer) TO PUBLIC;\n`);
    expect((await run('plan')).err).to.contain('PUBLIC has EXECUTE');
    await writeFile(at(name), file);
    expect((await run('plan')).out).to.not.contain('half(integer)');
    const env = { DPS_URL: service.url, DPS_TOKEN: service.adminToken };
    const object = 'privileges:public on half(integer)';
    expect((await dps(['objects', 'delete', object], env)).code).to.equal(0);
    expect((await dps(['objects', 'create', at(name)], env)).out).to.contain(`${object} was created`);
    expect((await dps(['objects', 'show', object], env)).out).to.equal(file.trimEnd().replace(/;$/, ''));
  });

  it('are pushed: changed, new and deleted ones', async () => {
    await writeFile(at('view.adults.sql'), 'CREATE VIEW adults AS SELECT id FROM members WHERE age > 20;\n');
    await writeFile(at('view.names.sql'), 'CREATE VIEW names AS SELECT name FROM members;\n');
    await rm(at('materialized_view.%41ll%20totals.sql'));
    const { code, out } = await run('plan');
    expect([code, ...out.split('\n').filter((line) => /^[-+~]/.test(line))]).to.deep.equal([
      1,
      '- materialized view All totals',
      '~ view adults: definition, comment',
      '+ view names',
    ]);
    const pushed = await run('push', '--yes');
    expect(pushed.code, pushed.err).to.equal(0);
    expect(await definitions()).to.deep.equal([
      ['adults', 'CREATE VIEW adults AS SELECT id FROM members WHERE age > 20'],
      ['names', 'CREATE VIEW names AS SELECT name FROM members'],
    ]);
    expect(await run('pull', '--check')).to.include({ code: 0 });
    await rm(join(folder, 'objects'), { recursive: true });
    expect((await run('push', '--yes')).code).to.equal(0);
    expect(await definitions()).to.deep.equal([]);
  });

  it('are deleted by a pull if the view was deleted, and others are kept', async () => {
    await writeFile(at('notes.txt'), 'of others');
    await api.ok('DELETE', '/objects/view/adults');
    const { out, err } = await run('pull');
    expect([out, err]).to.deep.equal([
      '1 collection and 1 object: 1 files written, 1 removed.',
      'Not managed by dps: objects/notes.txt.',
    ]);
    expect(await readdir(join(folder, 'objects'))).to.have.members([
      'materialized_view.%41ll%20totals.sql',
      'notes.txt',
    ]);
  });

  it('are merged with changes by others, and conflicts name the file and both definitions', async () => {
    const [mine, other] = ['CREATE VIEW adults AS SELECT id FROM members', `${ADULTS.split(' WHERE')[0]}`];
    await writeFile(at('view.adults.sql'), `${mine};\nCOMMENT ON VIEW adults IS 'Adults';\n`);
    await api.ok('PATCH', '/objects/view/adults', { definition: other });
    const stopped = await run('push', '--yes');
    expect(stopped.code).to.equal(2);
    expect(stopped.err).to.contain('objects/view.adults.sql:1: view "adults", definition: both changed it differently');
    expect(stopped.err).to.contain(`theirs "${mine}"`);
    expect((await run('push', '--yes', '--take', 'theirs')).code).to.equal(0);
    expect((await definitions()).find(([id]) => id === 'adults')).to.deep.equal(['adults', mine]);
  });

  it('are rejected with file and line', async () => {
    await writeFile(at('view.adults.sql'), 'CREATE VIEW adults AS\n<<<<<<< HEAD\nSELECT 1 AS a;\n');
    expect((await run('plan')).err).to.contain('objects/view.adults.sql:2: the file contains a Git merge conflict.');
    await writeFile(at('view.adults.sql'), 'CREATE VIEW other AS SELECT id FROM members;\n');
    expect((await run('plan')).err).to.contain(
      'objects/view.adults.sql:1: the file of "other" must be named objects/view.other.sql.',
    );
    await writeFile(at('view.adults.sql'), '\nCREATE VIEW adults AS SELECT * FROM members;\n');
    expect((await run('plan')).err).to.contain('objects/view.adults.sql:2: ');
  });

  it('leave the views unchanged if the folder was written by an earlier release', async () => {
    await rm(join(folder, 'objects'), { recursive: true });
    const lock = await readFile(join(folder, 'dps.lock'), 'utf8');
    await writeFile(join(folder, 'dps.lock'), lock.replace('objects: true\n', ''));
    await mkdir(join(folder, 'objects'));
    expect(await run('plan')).to.include({ code: 0 });
  });
});
