import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

const NAMES = 'CREATE VIEW names AS SELECT id, name FROM people';
const SHORT = 'CREATE VIEW names AS SELECT id FROM people';
const LONG = 'CREATE VIEW names AS SELECT id, name, age FROM people';

interface Snapshot {
  objects: { kind: string; id: string; definition: string; comment: string | null }[];
}

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

  it('keep changes of others and apply those of the snapshot, also without a log position', async () => {
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
