import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

const NAMES = 'CREATE VIEW names AS SELECT id, name FROM people';
const SHORT = 'CREATE VIEW names AS SELECT id FROM people';
const LONG = 'CREATE VIEW names AS SELECT id, name, age FROM people';

interface Snapshot {
  objects: { kind: string; id: string; definition: string; comment: string | null }[];
}

const NO_DIFFERENCE = { collections: [], fields: [], relations: [] };

interface Conflict {
  message: string;
  extensions: { code: string; kind: string; place: object; base?: unknown; ours?: unknown; theirs?: unknown };
}

interface Change {
  data: { id: string; plan: string };
}

describe('merges of views', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });
  let position: number;
  let base: Snapshot;

  beforeEach(async () => {
    await api.ok('POST', '/collections', {
      collection: 'people',
      schema: {},
      fields: [
        { field: 'name', type: 'string', interface: 'input' },
        { field: 'age', type: 'integer', interface: 'input' },
      ],
    });
    await api.ok('POST', '/objects', { kind: 'view', definition: NAMES });
    base = await api.ok<Snapshot>('GET', '/schema/snapshot');
    position = await api.head();
  });

  const withDefinition = (definition: string): Snapshot => ({
    ...base,
    objects: base.objects.map((each) => ({ ...each, definition })),
  });
  const merge = (body: object) => api.client('/schema/merge', json({ base: position, ...body }, 'POST'));
  const define = (definition: string) => api.ok('PATCH', '/objects/view/names', { definition });
  const place = { part: 'objects', kind: 'view', id: 'names', path: ['definition'] };
  const stored = async (): Promise<string | undefined> =>
    (await api.ok<Snapshot>('GET', '/schema/snapshot')).objects[0]?.definition;

  it('keep changes by others and apply those of the snapshot, even without a log position', async () => {
    await api.ok('PATCH', '/objects/view/names', { comment: 'Names of people' });
    for (const origin of [position, base]) {
      const answer = await merge({ base: origin, theirs: withDefinition(SHORT) });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.json).to.have.nested.property('diff.objects[0].diff.length', 1);
    }
    const answer = await merge({ theirs: withDefinition(SHORT) });
    await api.ok('POST', '/schema/apply', answer.json);
    expect((await api.ok<Snapshot>('GET', '/schema/snapshot')).objects[0]).to.deep.include({
      definition: SHORT,
      comment: 'Names of people',
    });
    const again = await merge({ theirs: withDefinition(SHORT) });
    expect((again.json as { diff: object }).diff).to.deep.equal({ collections: [], fields: [], relations: [] });
  });

  it('answer 409 with the view and both definitions, and apply the chosen one', async () => {
    await define(SHORT);
    const answer = await merge({ theirs: withDefinition(LONG) });
    const [conflict] = (answer.json as { errors: Conflict[] }).errors;
    expect([answer.status, conflict?.message]).to.deep.equal([
      409,
      'view "names", definition: both changed it differently',
    ]);
    const values = { place, base: NAMES, ours: SHORT, theirs: LONG };
    expect(conflict?.extensions).to.deep.equal({ code: 'MERGE_CONFLICT', kind: 'changed', ...values });
    const chosen = await merge({ theirs: withDefinition(LONG), resolve: [{ place, take: 'theirs' }] });
    await api.ok('POST', '/schema/apply', chosen.json);
    expect(await stored()).to.equal(LONG);
    const wrong = await merge({ theirs: base, resolve: [{ place: { ...place, kind: 'table' }, take: 'ours' }] });
    expect([wrong.status, ...wrong.codes]).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it('do not report definitions that PostgreSQL finds equal', async () => {
    await define('CREATE VIEW names AS SELECT people.id FROM people');
    const answer = await merge({ theirs: withDefinition(SHORT) });
    expect(answer.status, answer.text).to.equal(200);
    expect((answer.json as { diff: object }).diff).to.deep.equal({ collections: [], fields: [], relations: [] });
  });

  it('combine a new name and new options of a sequence, and report different options', async () => {
    const definition = 'CREATE SEQUENCE numbers START WITH 1000';
    await api.ok('POST', '/objects', { kind: 'sequence', definition });
    const origin = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const theirs = (text: string): Snapshot => ({
      objects: origin.objects.map((each) => (each.kind === 'sequence' ? { ...each, definition: text } : each)),
    });
    const granted = {
      kind: 'privileges',
      id: 'pg_monitor on sequence numbers',
      definition: [{ name: 'USAGE' }],
      comment: null,
    };
    const body = {
      base: await api.head(),
      theirs: { ...origin, objects: [...theirs(`${definition} CYCLE`).objects, granted] },
    };
    await api.ok('POST', '/objects/sequence/numbers/rename', { to: 'counter' });
    const renamed = await merge(body);
    expect(renamed.status, renamed.text).to.equal(200);
    await api.ok('POST', '/schema/apply', renamed.json);
    const { data } = await api.ok<{ data: { definition: string } }>('GET', '/objects/sequence/counter');
    expect(data.definition).to.contain('counter START WITH 1000 CYCLE');
    await api.ok('GET', '/objects/privileges/pg_monitor%20on%20sequence%20counter');
    await api.ok('PATCH', '/objects/sequence/counter', { definition: 'CREATE SEQUENCE counter' });
    const [conflict] = ((await merge(body)).json as { errors: Conflict[] }).errors;
    const path = ['definition'];
    expect(conflict?.extensions.place).to.deep.equal({ part: 'objects', kind: 'sequence', id: 'counter', path });
  });

  it('combine different members of a type, and report labels that both sides added', async () => {
    const enumOf = (...labels: string[]) =>
      `CREATE TYPE mood AS ENUM (${labels.map((each) => `'${each}'`).join(', ')})`;
    await api.ok('POST', '/objects', { kind: 'type', definition: enumOf('happy', 'sad') });
    await api.ok('POST', '/fields/people', {
      field: 'feels',
      type: 'unknown',
      interface: 'input',
      schema: { data_type: 'mood', default_value: 'sad' },
    });
    const origin = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const head = await api.head();
    const closed = { kind: 'privileges', id: 'public on type mood', definition: [], comment: null };
    const theirs = (more: object): object => ({
      ...origin,
      objects: [...origin.objects.map((each) => (each.kind === 'type' ? { ...each, ...more } : each)), closed],
    });
    const change = (more: object) => api.ok('PATCH', '/objects/type/mood', more);
    await change({ comment: 'Feelings' });
    const combined = await merge({ base: head, theirs: theirs({ definition: enumOf('happy', 'so so', 'sad') }) });
    expect(combined.status, combined.text).to.equal(200);
    await api.ok('POST', '/schema/apply', combined.json);
    const { data } = await api.ok<{ data: object }>('GET', '/objects/type/mood');
    expect(data).to.deep.include({ comment: 'Feelings', definition: enumOf('happy', 'so so', 'sad') });
    await api.ok('GET', '/objects/privileges/public%20on%20type%20mood');
    const body = { base: head, theirs: theirs({ definition: enumOf('happy', 'sad', 'angry') }) };
    const [conflict] = ((await merge(body)).json as { errors: Conflict[] }).errors;
    const there = { part: 'objects', kind: 'type', id: 'mood', path: ['definition'] };
    expect(conflict?.extensions.place).to.deep.equal(there);
  });

  it('rebase a change request, with a resolution if others changed the same view', async () => {
    const diff = await api.ok<object>('POST', '/schema/diff', withDefinition(LONG));
    const { data } = await api.ok<Change>('POST', '/changes', { title: 'More columns', diff });
    await define(SHORT);
    const rebase = (resolve: object[]) => api.client(`/changes/${data.id}/rebase`, json({ resolve }, 'POST'));
    const conflict = await rebase([]);
    expect([conflict.status, ...conflict.codes], conflict.text).to.deep.equal([409, 'MERGE_CONFLICT']);
    const rebased = await rebase([{ place, take: 'theirs' }]);
    expect(rebased.status, rebased.text).to.equal(200);
    await api.ok('PUT', '/policy', { author_may_approve: true });
    const { plan } = (await api.ok<Change>('GET', `/changes/${data.id}`)).data;
    await api.ok('POST', `/changes/${data.id}/approve`, { plan });
    await api.ok('POST', `/changes/${data.id}/apply`);
    expect(await stored()).to.equal(LONG);
    const reverted = await api.ok<Change>('POST', `/changes/${data.id}/revert`, {});
    const back = (await api.ok<Change>('GET', `/changes/${reverted.data.id}`)).data;
    await api.ok('POST', `/changes/${back.id}/approve`, { plan: back.plan });
    await api.ok('POST', `/changes/${back.id}/apply`);
    expect(await stored()).to.equal(SHORT);
  });
});

describe('merges of a renamed table', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });
  let position: number;
  let base: Snapshot;

  const LOG =
    'CREATE RULE log AS ON UPDATE TO people WHERE new.age > 1 DO ALSO (INSERT INTO changes (age) VALUES (old.age); UPDATE people SET age = 2 WHERE people.id = old.id AND false)';
  const ADULTS = 'CREATE POLICY adults ON people USING (age > 17 AND id IN (SELECT p.id FROM people p))';
  const TOUCH =
    'CREATE TRIGGER touch BEFORE UPDATE OF age ON people FOR EACH ROW WHEN (old.age <> new.age) EXECUTE FUNCTION touch()';
  const SECURITY = 'ALTER TABLE people ENABLE ROW LEVEL SECURITY';
  const COUNTS = 'CREATE STATISTICS counts ON age, id FROM people';
  const OPTIONS = 'ALTER TABLE people SET (fillfactor = 70), ALTER COLUMN age SET STATISTICS 500';

  beforeEach(async () => {
    const age = { field: 'age', type: 'integer', interface: 'input' };
    for (const collection of ['people', 'changes'])
      await api.ok('POST', '/collections', { collection, schema: {}, fields: [age] });
    const returns = 'RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$';
    for (const [kind, definition] of [
      ['function', `CREATE FUNCTION touch() ${returns}`],
      ['rule', LOG],
      ['policy', ADULTS],
      ['trigger', TOUCH],
      ['row_security', SECURITY],
      ['statistics', COUNTS],
      ['table_options', OPTIONS],
    ])
      await api.ok('POST', '/objects', { kind, definition });
    base = await api.ok<Snapshot>('GET', '/schema/snapshot');
    position = await api.head();
  });

  const changed = (members: Readonly<Record<string, object>>): Snapshot => ({
    ...base,
    objects: base.objects.map((object) => ({ ...object, ...members[object.kind] })),
  });
  const merge = (theirs: object) => api.client('/schema/merge', json({ base: position, theirs }, 'POST'));
  const mergeAndApply = async (theirs: object) => {
    const answer = await merge(theirs);
    expect(answer.status, answer.text).to.equal(200);
    await api.ok('POST', '/schema/apply', answer.json);
    return (await api.ok<Snapshot>('GET', '/schema/snapshot')).objects;
  };
  const renameTable = () => api.ok('POST', '/collections/people/rename', { to: 'members' });

  it('apply other members to its rule, trigger, policy and statistics object', async () => {
    await renameTable();
    const objects = await mergeAndApply(
      changed({
        rule: { comment: 'Logs', enabled: 'disabled' },
        trigger: { comment: 'Touches', enabled: 'always' },
        policy: { comment: 'Adults' },
        statistics: { comment: 'Counts' },
      }),
    );
    expect(objects.map(({ id, comment }) => [id, comment])).to.deep.equal([
      ['touch()', null],
      ['adults on members', 'Adults'],
      ['members', null],
      ['log on members', 'Logs'],
      ['counts', 'Counts'],
      ['members', null],
      ['touch on members', 'Touches'],
    ]);
    expect(await merge(changed({})))
      .to.have.nested.property('json.diff')
      .that.deep.equals(NO_DIFFERENCE);
  });

  it('apply other definitions to its trigger, row security, table options and statistics object', async () => {
    await renameTable();
    const objects = await mergeAndApply(
      changed({
        trigger: { definition: TOUCH.replace('BEFORE', 'AFTER') },
        row_security: { definition: SECURITY.replace('ENABLE', 'FORCE') },
        table_options: { definition: OPTIONS.replace('70', '80') },
        statistics: { definition: COUNTS.replace('counts', 'counts (mcv)') },
      }),
    );
    for (const [kind, word] of [
      ['trigger', 'AFTER'],
      ['row_security', 'FORCE'],
      ['table_options', '80'],
      ['statistics', 'mcv'],
    ])
      expect(objects.find((each) => each.kind === kind)?.definition, kind)
        .to.contain(word)
        .and.contain('members')
        .and.not.contain('people');
  });

  it('report table options if a column was renamed and both sides changed them', async () => {
    await api.ok('POST', '/fields/people/age/rename', { to: 'years' });
    const theirs = changed({ table_options: { definition: OPTIONS.replace('70', '80') } });
    const answer = await merge(theirs);
    const place = { part: 'objects', kind: 'table_options', id: 'people', path: ['definition'] };
    const [conflict] = (answer.json as { errors: Conflict[] }).errors;
    expect([answer.status, conflict?.extensions.place]).to.deep.equal([409, place]);
    const choose = async (take: 'ours' | 'theirs') =>
      (await api.client('/schema/merge', json({ base: position, theirs, resolve: [{ place, take }] }, 'POST'))).json;
    expect(await choose('ours'))
      .to.have.property('diff')
      .that.deep.equals(NO_DIFFERENCE);
    const before = await api.ok('GET', '/schema/snapshot');
    const { status, codes } = await api.client('/schema/apply', json(await choose('theirs'), 'POST'));
    expect([status, codes[0]], 'the column no longer has this name').to.deep.equal([422, 'DATABASE_REFUSED']);
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(before);
  });

  it('report definitions that name the table elsewhere, and apply the chosen one', async () => {
    await renameTable();
    const theirs = changed({
      rule: { definition: LOG.replace('> 1', '> 2') },
      policy: { definition: ADULTS.replace('17', '20') },
    });
    const answer = await merge(theirs);
    const places = (answer.json as { errors: Conflict[] }).errors.map(({ extensions }) => extensions.place);
    expect([answer.status, places]).to.deep.equal([
      409,
      [
        { part: 'objects', kind: 'policy', id: 'adults on members', path: ['definition'] },
        { part: 'objects', kind: 'rule', id: 'log on members', path: ['definition'] },
      ],
    ]);
    const choose = async (take: 'ours' | 'theirs') => {
      const resolve = places.map((each) => ({ place: each, take }));
      return (await api.client('/schema/merge', json({ base: position, theirs, resolve }, 'POST'))).json;
    };
    expect(await choose('ours'))
      .to.have.property('diff')
      .that.deep.equals(NO_DIFFERENCE);
    const before = await api.ok('GET', '/schema/snapshot');
    const { status, codes } = await api.client('/schema/apply', json(await choose('theirs'), 'POST'));
    expect([status, codes[0]], 'the table no longer has this name').to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(before);
  });
});
