import { expect } from 'chai';
import { writeYaml } from '../../src/http/formats.js';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface Snapshot {
  version: number;
  collections: { collection: string; renamed_from?: string; meta: Record<string, unknown>; schema: unknown }[];
  fields: {
    collection: string;
    field: string;
    renamed_from?: string;
    meta: Record<string, unknown>;
    schema: unknown;
  }[];
  relations: object[];
}

interface Conflict {
  message: string;
  extensions: { code: string; kind: string; place: object; base?: unknown; ours?: unknown; theirs?: unknown };
}

describe('POST /schema/merge', () => {
  const { client } = withService({ each: true, consistent: true });
  let base: Snapshot;
  let position: number;

  beforeEach(async () => {
    await sendAccepted('/collections', 'POST', {
      collection: 'articles',
      schema: {},
      fields: [
        { field: 'title', type: 'string', interface: 'input', schema: { max_length: 100 } },
        { field: 'body', type: 'text', interface: 'input' },
      ],
    });
    const answer = await client('/schema/snapshot');
    base = answer.json as Snapshot;
    position = Number(answer.headers.get('x-log-position'));
  });

  async function sendAccepted(path: string, method: string, body?: object): Promise<void> {
    const reply = await client(path, body ? json(body, method) : { method });
    expect(reply.status, reply.text).to.be.within(200, 204);
  }

  const changed = (change: (snapshot: Snapshot) => void): Snapshot => {
    const copy = structuredClone(base);
    change(copy);
    return copy;
  };
  const fieldOf = ({ fields }: Snapshot, name: string) => fields.find(({ field }) => field === name)!;
  const merge = (theirs: Snapshot, more: object = {}) =>
    client('/schema/merge', json({ base: position, theirs, ...more }, 'POST'));
  const conflictsOf = (answer: { status: number; json: unknown; text: string }): Conflict[] => {
    expect(answer.status, answer.text).to.equal(409);
    return (answer.json as { errors: Conflict[] }).errors;
  };

  async function applyMerge(answer: { status: number; json: unknown; text: string }): Promise<Snapshot> {
    expect(answer.status, answer.text).to.equal(200);
    await sendAccepted('/schema/apply', 'POST', answer.json as object);
    return (await client('/schema/snapshot')).json as Snapshot;
  }

  it('applies the changes of the file and undoes no changes by others', async () => {
    await sendAccepted('/fields/articles', 'POST', { field: 'slug', type: 'string', interface: 'input' });
    await sendAccepted('/fields/articles/title', 'PATCH', { meta: { note: 'by others' } });
    const theirs = changed((snapshot) => {
      fieldOf(snapshot, 'title').meta['width'] = 'half';
      snapshot.fields = snapshot.fields.filter(({ field }) => field !== 'body');
    });
    const now = await applyMerge(await merge(theirs));
    expect(now.fields.map(({ field }) => field)).to.have.members(['id', 'title', 'slug']);
    expect(fieldOf(now, 'title').meta).to.deep.include({ note: 'by others', width: 'half' });
    const again = await merge(theirs);
    expect((again.json as { diff: object }).diff).to.deep.equal({ collections: [], fields: [], relations: [] });
  });

  it('lists every conflict with location and three values, and takes the chosen side', async () => {
    await sendAccepted('/fields/articles/title', 'PATCH', { meta: { note: 'ours' }, schema: { max_length: 150 } });
    const theirs = changed((snapshot) => {
      const title = fieldOf(snapshot, 'title');
      title.meta['note'] = 'theirs';
      (title.schema as { max_length: number }).max_length = 200;
    });
    const conflicts = conflictsOf(await merge(theirs));
    expect(conflicts.map(({ extensions: { code, kind } }) => [code, kind])).to.deep.equal([
      ['MERGE_CONFLICT', 'changed'],
      ['MERGE_CONFLICT', 'changed'],
    ]);
    const places = [['type'], ['meta', 'note']].map((path) => ({
      part: 'fields',
      collection: 'articles',
      field: 'title',
      path,
    }));
    expect(conflicts.map(({ extensions }) => extensions.place)).to.deep.equal(places);
    expect(conflicts[1]?.extensions).to.deep.include({ base: null, ours: 'ours', theirs: 'theirs' });
    expect(conflicts[1]?.message).to.equal('field articles.title, meta.note: both changed it differently');
    expect((await client('/schema/snapshot')).text).not.to.contain('theirs');

    const resolve = places.map((place, index) => ({ place, take: index === 0 ? 'theirs' : 'ours' }));
    expect(conflictsOf(await merge(theirs, { resolve: resolve.slice(1) }))).to.have.length(1);
    const now = await applyMerge(await merge(theirs, { resolve }));
    expect(fieldOf(now, 'title')).to.have.nested.property('meta.note', 'ours');
    expect(fieldOf(now, 'title')).to.have.nested.property('schema.max_length', 200);
  });

  it('applies changes of one side to objects that the other side renamed', async () => {
    await sendAccepted('/fields/articles/title/rename', 'POST', { to: 'headline' });
    await sendAccepted('/collections/articles/rename', 'POST', { to: 'posts' });
    const theirs = changed((snapshot) => {
      fieldOf(snapshot, 'title').meta['note'] = 'theirs';
      snapshot.collections[0]!.meta['display_template'] = '{{ title }}!';
    });
    const now = await applyMerge(await merge(theirs));
    expect(now.collections[0]).to.have.nested.property('meta.display_template', '{{ headline }}!');
    expect(fieldOf(now, 'headline')).to.deep.include({ collection: 'posts' });
    expect(fieldOf(now, 'headline').meta).to.deep.include({ note: 'theirs' });
  });

  it('applies changes of the other side to objects that the file renamed', async () => {
    await sendAccepted('/fields/articles/title', 'PATCH', { meta: { note: 'by others' } });
    const renamed = changed((snapshot) => {
      Object.assign(snapshot.collections[0]!, { collection: 'posts', renamed_from: 'articles' });
      snapshot.collections[0]!.meta['collection'] = 'posts';
      for (const field of snapshot.fields) Object.assign(field, { collection: 'posts', meta: {}, schema: {} });
      Object.assign(fieldOf(snapshot, 'title'), { field: 'headline', renamed_from: 'title' });
      (snapshot.collections[0] as { schema: object }).schema = {};
    });
    const now = await applyMerge(await merge(renamed));
    expect(now.collections.map(({ collection }) => collection)).to.deep.equal(['posts']);
    expect(fieldOf(now, 'headline').meta).to.deep.include({ note: 'by others' });
  });

  it('reports conflicting renames: two names for one object, one name for two', async () => {
    await sendAccepted('/collections/articles/rename', 'POST', { to: 'posts' });
    const named = (to: string) =>
      changed((snapshot) => {
        Object.assign(snapshot.collections[0]!, { collection: to, renamed_from: 'articles', meta: {}, schema: {} });
        for (const field of snapshot.fields) Object.assign(field, { collection: to, meta: {}, schema: {} });
      });
    const [conflict] = conflictsOf(await merge(named('texts')));
    expect(conflict?.extensions).to.deep.include({ kind: 'renamed', base: 'articles', ours: 'posts', theirs: 'texts' });
    const resolve = [{ place: conflict?.extensions.place, take: 'theirs' }];
    const now = await applyMerge(await merge(named('texts'), { resolve }));
    expect(now.collections.map(({ collection }) => collection)).to.deep.equal(['texts']);

    await sendAccepted('/collections', 'POST', { collection: 'posts', schema: {} });
    const before = await client('/schema/snapshot');
    base = before.json as Snapshot;
    position = Number(before.headers.get('x-log-position'));
    await sendAccepted('/collections', 'POST', { collection: 'stories', schema: {} });
    const theirs = changed((snapshot) => {
      const posts = snapshot.collections.find(({ collection }) => collection === 'posts')!;
      Object.assign(posts, { collection: 'stories', renamed_from: 'posts', meta: {}, schema: {} });
      for (const field of snapshot.fields.filter(({ collection }) => collection === 'posts'))
        Object.assign(field, { collection: 'stories', meta: {}, schema: {} });
    });
    const [other] = conflictsOf(await merge(theirs));
    expect(other?.extensions).to.deep.include({ kind: 'name_taken' });
    const took = await applyMerge(await merge(theirs, { resolve: [{ place: other?.extensions.place, take: 'ours' }] }));
    expect(took.collections.map(({ collection }) => collection)).to.deep.equal(['posts', 'stories', 'texts']);
  });

  it('reports conflicts between removal and change, and combined schemas that are invalid', async () => {
    await sendAccepted('/fields/articles/body', 'DELETE');
    await sendAccepted('/fields/articles/title', 'PATCH', { type: 'text' });
    const theirs = changed((snapshot) => {
      fieldOf(snapshot, 'body').meta['note'] = 'theirs';
      (fieldOf(snapshot, 'title').schema as { is_indexed: boolean }).is_indexed = true;
      snapshot.collections[0]!.meta['sort_field'] = 'body';
    });
    const [conflict, ...more] = conflictsOf(await merge(theirs));
    expect(more).to.deep.equal([]);
    expect(conflict?.extensions).to.deep.include({ kind: 'removed' }).and.not.have.property('ours');
    expect(conflict?.message).to.contain('ours deleted it, and theirs changed it');
    const resolve = [{ place: conflict?.extensions.place, take: 'ours' }];
    const [invalid] = conflictsOf(await merge(theirs, { resolve }));
    expect(invalid?.extensions).to.deep.include({
      kind: 'invalid',
      place: { part: 'collections', collection: 'articles' },
    });
    expect(invalid?.message).to.contain('"body"');
    const now = await applyMerge(
      await merge(theirs, { resolve: [...resolve, { place: invalid?.extensions.place, take: 'ours' }] }),
    );
    expect(now.fields.map(({ field }) => field)).to.have.members(['id', 'title']);
  });

  it('accepts a snapshot, YAML, a file or a point in time as base, and rejects others with the location', async () => {
    await sendAccepted('/fields/articles', 'POST', { field: 'slug', type: 'string', interface: 'input' });
    const theirs = changed((snapshot) => void (fieldOf(snapshot, 'title').meta['note'] = 'theirs'));
    const diffs: unknown[] = [];
    const text = writeYaml({ base, theirs });
    const form = new FormData();
    form.append('file', new Blob([text]), 'merge.yaml');
    const types = { 'content-type': 'application/yaml' };
    for (const answer of [
      await merge(theirs),
      await merge(theirs, { base }),
      await client('/schema/merge', { method: 'POST', body: text, headers: types }),
      await client('/schema/merge', { method: 'POST', body: form }),
    ]) {
      expect(answer.status, answer.text).to.equal(200);
      diffs.push(answer.json);
    }
    expect(new Set(diffs.map((each) => JSON.stringify(each))).size).to.equal(1);
    expect((await merge(theirs, { ours: position })).status).to.equal(200);

    const wrong: [object, number, string][] = [
      [{ base: undefined }, 400, 'base'],
      [{ base: true }, 400, 'base'],
      [{ base: 'yesterday' }, 400, 'base'],
      [{ base: '2999-01-01' }, 400, 'base'],
      [{ base: 100_000 }, 404, 'base'],
      [{ ours: -1 }, 400, 'ours'],
      [{ theirs: 7 }, 400, 'theirs'],
      [{ theirs: { ...theirs, more: 1 } }, 400, 'theirs.more'],
      [
        { theirs: { ...theirs, fields: [{ collection: 'articles', field: 'x', type: 'nope' }] } },
        400,
        'theirs.fields[0].type',
      ],
      [{ base: { ...base, version: 2 } }, 400, 'base.version'],
      [{ resolve: {} }, 400, 'resolve'],
      [{ resolve: [{ place: { part: 'fields', collection: 'a' }, take: 'both' }] }, 400, 'resolve[0].take'],
      [{ resolve: [{ place: { part: 'collections', collection: 'nothing' }, take: 'ours' }] }, 400, 'resolve[0].place'],
      [{ more: 1 }, 400, 'more'],
    ];
    for (const [more, status, path] of wrong) {
      const { status: mergeStatus, json: body, text: shown } = await merge(theirs, more);
      expect(mergeStatus, `${JSON.stringify(more).slice(0, 80)}: ${shown}`).to.equal(status);
      const paths = (body as { errors: { extensions: { path: string } }[] }).errors.map((each) => each.extensions.path);
      expect(paths, JSON.stringify(more).slice(0, 80)).to.include(path);
    }
    // A change request accepts the snapshot itself.
    const proposed: [object, string][] = [
      [{ ...theirs, more: 1 }, 'snapshot.more'],
      [{ ...theirs, fields: [{ collection: 'articles', field: 'x', type: 'nope' }] }, 'snapshot.fields[0].type'],
    ];
    for (const [snapshot, path] of proposed) {
      const answer = await client('/changes', json({ title: 't', base: position, snapshot }));
      const { errors } = answer.json as { errors: { extensions: { path: string } }[] };
      expect(
        errors.map(({ extensions }) => extensions.path),
        answer.text,
      ).to.deep.equal([path]);
    }
    const foreign = await merge(theirs, { base: `${position}-${'0'.repeat(64)}` });
    expect([foreign.status, foreign.text]).to.satisfy(
      ([status, body]: [number, string]) => status === 409 && body.includes('DIVERGED'),
    );
  });

  it('reports the first decisions that match no conflict', async () => {
    const theirs = changed((snapshot) => void (fieldOf(snapshot, 'title').meta['note'] = 'theirs'));
    const resolve = Array.from({ length: 150_000 }, (_, index) => ({
      place: { part: 'collections', collection: `c${index}` },
      take: 'ours',
    }));
    const unused = await merge(theirs, { resolve });
    expect(unused.status, unused.text.slice(0, 500)).to.equal(400);
    const { errors } = unused.json as { errors: { extensions: object }[] };
    expect(errors).to.have.length(100);
    expect(errors[99]?.extensions).to.include({ code: 'INVALID_PAYLOAD', path: 'resolve[99].place' });

    const path = Array.from({ length: 101 }, () => 'options');
    const place = { part: 'fields', collection: 'articles', field: 'title', path };
    const deep = await merge(theirs, { resolve: [{ place, take: 'ours' }] });
    expect(deep.status, deep.text).to.equal(400);
    expect(deep.text).to.contain('resolve[0].place');
  });

  it('reports probable renames in the pending changes only', async () => {
    const renamed = changed(({ fields }) => {
      Object.assign(fields.find(({ field }) => field === 'body') ?? {}, { field: 'text', schema: {}, meta: {} });
    });
    const codes = async (theirs: Snapshot): Promise<string[]> => {
      const { status, text, json: answer } = await merge(theirs);
      expect(status, text).to.equal(200);
      return ((answer as { warnings?: { code: string }[] }).warnings ?? []).map(({ code }) => code);
    };
    expect(await codes(renamed)).to.include('LOOKS_RENAMED');
    await sendAccepted('/fields/articles/body', 'DELETE');
    await sendAccepted('/fields/articles', 'POST', { field: 'text', type: 'text', interface: 'input' });
    expect(await codes((await client('/schema/snapshot')).json as Snapshot)).to.deep.equal([]);
  });
});
