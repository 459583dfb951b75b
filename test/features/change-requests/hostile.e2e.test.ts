import { expect } from 'chai';
import pg from 'pg';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';
import { type Person, diffOf, newPerson, noted, open, rejectionOf, show } from './people.js';

describe('hostile change requests', () => {
  const { service, client: admin } = withService({ atEnd: () => db.end() });
  let db: pg.Client;
  let author: Person;
  let diff: object;

  before(async () => {
    db = new pg.Client(service.databaseUrl);
    await db.connect();
    expect((await admin('/collections', json({ collection: 'articles', schema: {}, fields: [] }))).status).to.equal(
      200,
    );
    author = await newPerson(admin, 'author', 'author');
    diff = await diffOf(admin, noted('articles', 'a note'));
  });

  const changes = async (): Promise<number> =>
    (await db.query<{ count: number }>('SELECT count(*)::int AS count FROM service.service_changes')).rows[0]?.count ??
    0;

  const HARMFUL: [string, unknown][] = [
    ['nothing', ''],
    ['blanks', '  \n '],
    ['a megabyte', 'x'.repeat(1024 ** 2)],
    ['201 characters', '𝒳'.repeat(201)],
    ['NUL', 'a\u0000b'],
    ['an escape', '\u001b[2Jgone'],
    ['half a surrogate pair', '\ud800'],
    ['two lines', 'one\ntwo'],
    ['an object', { __proto__: null, toString: 'x' }],
    ['null', null],
  ];
  for (const [what, title] of HARMFUL)
    it(`reject a title that is ${what} with its location, and leave nothing`, async () => {
      const before = await changes();
      const answer = await author.send('/changes', json({ title, diff }));
      expect(rejectionOf(answer), answer.text.slice(0, 200)).to.equal('400 INVALID_PAYLOAD');
      expect(answer.text.slice(0, 2_000)).to.include('"path":"title"');
      expect(await changes()).to.equal(before);
    });

  it('accept unusual texts unchanged', async () => {
    const title = '__proto__ <script>alert(1)</script> \u202e ${x} %s';
    const { id } = await open(author.send, { title, reason: 'constructor\n"\'', diff });
    const comment = '{"document": "x"}\n\tO\'Neil 𝒳';
    expect((await author.send(`/changes/${id}/comment`, json({ comment }))).status).to.equal(200);
    const shown = await show(admin, id);
    expect([shown.title, shown.reason]).to.deep.equal([title, 'constructor\n"\'']);
    expect(shown.proposal.comments.map(({ text }) => text)).to.deep.equal([comment]);
    for (const wrong of ['', 'x'.repeat(10_001), '\u0007', 7])
      expect(rejectionOf(await author.send(`/changes/${id}/comment`, json({ comment: wrong })))).to.equal(
        '400 INVALID_PAYLOAD',
      );
    expect((await show(admin, id)).proposal.comments).to.have.length(1);
  });

  it('reject bodies with extra or missing members at their location', async () => {
    const at = async (body: object): Promise<unknown> => {
      const answer = await author.send('/changes', json(body));
      expect(answer.status, answer.text).to.equal(400);
      const [error] = (answer.json as { errors: { extensions: { path?: string } }[] }).errors;
      return error?.extensions.path;
    };
    expect(await at({ title: 'x' })).to.equal('diff');
    expect(await at({ title: 'x', diff, snapshot: {} })).to.equal('snapshot');
    expect(await at({ title: 'x', diff, base: 1 })).to.equal('base');
    expect(await at({ title: 'x', diff, state: 'approved' })).to.equal('state');
    expect(await at({ title: 'x', diff: { hash: 'x', diff: [] } })).to.equal('diff.diff');
    expect(await at({ title: 'x', diff: { hash: 'x', diff: { fields: [7] } } })).to.equal('diff.diff.fields[0]');
    expect(await at({ title: 'x', snapshot: { collections: 7 } })).to.match(/^snapshot/);
    expect(await at({ title: 'x', diff, acknowledge: [{ code: 7, place: 'x' }] })).to.equal('acknowledge[0].code');
    const empty = await diffOf(admin, () => undefined).catch(() => undefined);
    if (empty !== undefined) expect(await at({ title: 'x', diff: empty })).to.equal('diff');
    const stale = await author.send('/changes', json({ title: 'x', diff: { ...diff, hash: 'f'.repeat(64) } }));
    expect(rejectionOf(stale)).to.equal('409 SCHEMA_CHANGED');
  });

  it('count approvals only by active admins, and only for the caller', async () => {
    const { id, plan } = await open(author.send, { title: 'Forged', diff });
    expect(rejectionOf(await author.send(`/changes/${id}/approve`, json({ plan })))).to.equal('403 FORBIDDEN');
    expect((await admin(`/changes/${id}/approve`, json({ plan }))).status).to.equal(200);
    const gone = await newPerson(admin, 'gone', 'admin');
    expect((await gone.send(`/changes/${id}/approve`, json({ plan }))).status).to.equal(200);
    expect((await admin(`/users/${gone.id}`, { method: 'DELETE' })).status).to.equal(204);
    const { approvals, approvals_counted } = (await show(admin, id)).proposal;
    expect(approvals.map(({ why_not: why }) => why)).to.deep.equal([null, 'no longer an admin']);
    expect(approvals_counted).to.equal(1);
    for (const body of [{}, { plan: 'x' }, { plan: plan.toUpperCase() }, { plan, by: gone.id }])
      expect(rejectionOf(await admin(`/changes/${id}/approve`, json(body)))).to.equal('400 INVALID_PAYLOAD');
    expect(rejectionOf(await gone.send(`/changes/${id}/approve`, json({ plan })))).to.equal('401 UNAUTHENTICATED');
  });

  it('follow the log instead of rows that claim an approval', async () => {
    const { id } = await open(author.send, { title: 'Rows', diff });
    await db.query(
      `UPDATE service.service_changes SET state = 'approved', request = jsonb_set(request, '{state}', '"approved"') WHERE id = $1`,
      [id],
    );
    const verified = await admin('/projections/verify');
    expect(verified.text).to.include(id);
    await admin('/projections/change-requests/rebuild', { method: 'POST' });
    expect((await show(admin, id)).state).to.equal('open');
  });

  it('fail verification if documents or comments were changed, and are not applied', async () => {
    const { id } = await open(author.send, { title: 'Changed', diff });
    const output = 'to be changed';
    expect((await author.send(`/changes/${id}/comment`, json({ comment: output }))).status).to.equal(200);
    expect((await admin('/history/verify')).json).to.have.nested.property('data.ok', true);
    await db.query(`UPDATE service.service_documents SET content = '{"comment":"changed"}' WHERE content LIKE $1`, [
      `%${output}%`,
    ]);
    expect((await admin('/history/verify')).text).to.include('was changed');
    await db.query(
      `UPDATE service.service_documents SET content = NULL, erased_at = now() WHERE content = '{"comment":"changed"}'`,
    );
    expect((await admin('/history/verify')).text).to.not.include('was changed');
    expect((await show(admin, id)).proposal.comments.map(({ text }) => text)).to.deep.equal([null]);

    await db.query(
      `UPDATE service.service_documents SET content = replace(content, 'a note', 'b note') WHERE hash = (SELECT request ->> 'document' FROM service.service_changes WHERE id = $1)`,
      [id],
    );
    expect((await admin('/history/verify')).text).to.include('was changed');
    const apply = await admin(`/changes/${id}/apply`, { method: 'POST' });
    expect(rejectionOf(apply)).to.equal('404 NOT_FOUND');
  });
});
