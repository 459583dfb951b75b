import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { planHash } from '../../../src/schema/change-requests/plan-hash.js';
import { createPlanReplay } from '../../../src/schema/change-requests/replay-plans.js';
import { createPolicyReplay } from '../../../src/schema/change-requests/replay-policy.js';
import { accountEvent } from '../../../src/schema/fold/accounts.js';
import type { SchemaEvent } from '../../../src/schema/model/events.js';
import { DEFAULT_POLICY, type Policy } from '../../../src/schema/model/policy.js';
import { initialState } from '../../../src/schema/model/state.js';
import type { TrustRule } from '../../../src/schema/model/token-scope.js';
import { policyUpdated } from '../../../src/schema/policy.js';
import { attempt, follow } from '../../support/given.js';

const AT = '2026-01-02T03:04:05.678Z';
const ID = '00000000-0000-4000-8000-000000000001';
const ADA = { id: 'ada', name: 'Ada' };
const BOB = { id: 'bob', name: 'Bob' };
const POLICY: Policy = { ...DEFAULT_POLICY, findings: { LOSES_DATA: 'approve' }, author_may_approve: false };
const FINDINGS = { LOSES_DATA: ['articles.body'] };

type Added = Parameters<ReturnType<typeof createPolicyReplay>['add']>[0];
type ReplayInput = Pick<Added, 'type' | 'data'> & Partial<Added>;

const change = (type: string, data: object, more: Partial<Added> = {}): ReplayInput => ({
  type: `change.${type}`,
  data,
  subject: { kind: 'change', id: ID },
  ...more,
});
const account = (user: string, data: object = {}): ReplayInput =>
  accountEvent('account.created', user, { role: 'admin', status: 'active', password_set_by: null, ...data });
const policy = (next: Policy, more: Partial<Added> = {}): ReplayInput => ({ ...policyUpdated(next), ...more });
const deleted = (more: Partial<Added> = {}): ReplayInput => ({
  type: 'field.deleted',
  collection: 'articles',
  field: 'body',
  data: { kept_until: AT },
  ...more,
});
const judged = { context: { policy: 'hash 4' } };
/** The batch that applies the request. */
const DELETED = deleted({ batch: 'apply', ...judged });
const applied = (data: object = {}): ReplayInput =>
  change('applied', { findings: FINDINGS, ...data }, { batch: 'apply', ...judged });
const APPLIED: ReplayInput[] = [DELETED, applied()];

/** The collection that the request changes, and the plan of the request. */
const [CREATED, PLAN] = createPlan();

function createPlan(how: { purge?: boolean; acknowledge?: object[] } = {}): [SchemaEvent, string] {
  const fields = ['title', 'body'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));
  const body = { collection: 'articles', schema: {}, fields };
  const created = attempt(initialState(), 'create-collection', { body, concurrentIndexes: false });
  const [event] = created.ok ? created.value : [];
  if (event === undefined) throw new Error('the collection was not created');
  const before = follow(initialState(), [event]);
  const gone = attempt(before, 'delete-field', { collection: 'articles', field: 'body' });
  const events = gone.ok ? gone.value : [];
  return [event, runToEnd(planHash({ before, after: follow(before, events), events, ...how }))];
}

const request = { operation: 'apply-diff', document: 'd', online: false, collections: ['articles'] };
const OPENED = change('opened', { ...request, proposal: { title: 't', plan: PLAN, base: 0 } });
const approved = (data: object = {}, more: Partial<Added> = {}): ReplayInput =>
  change(
    'approved',
    { plan: PLAN, complete: true, online: false, credential: 'password', findings: FINDINGS, kept: [], ...data },
    { actor: BOB, ...more },
  );
/** Replays events. Without a batch, each is its own batch. */
function replayed(...events: ReplayInput[]) {
  const replay = createPolicyReplay(createPlanReplay());
  for (const [index, event] of events.entries()) {
    const position = index + 1;
    const placed = {
      position,
      batch: `${position}`,
      hash: `hash ${position}`,
      occurred_at: AT,
      actor: ADA,
      reason: null,
      request_id: 'r',
    };
    runToEnd(replay.add({ ...placed, version: 1, collection: null, field: null, ...event }));
  }
  return runToEnd(replay.end());
}

/** Two admins, of whom Ada opens the request. */
const STARTED = [CREATED, account('ada'), account('bob'), policy(POLICY)];
const NOT_JUDGED = 'it was not evaluated against the policy in force';
const lacks = (code: string, count = 0) => `it lacks approvals (${code}): 1 required, ${count} valid`;

describe('the replay of a policy', () => {
  it('allows an approved change, and every change without a policy', () => {
    expect(replayed(...STARTED, OPENED, approved(), ...APPLIED)).to.deep.equal([]);
    expect(
      replayed(deleted(), policy(POLICY), policy(DEFAULT_POLICY, { context: { policy: 'hash 2' } })),
    ).to.deep.equal([]);
  });

  const WRONG: [string, ReplayInput[]][] = [
    ['without any approval', []],
    ['with an approval by its author', [approved({}, { actor: ADA })]],
    ['with an approval by someone who is not an admin', [approved({}, { actor: { id: 'eve', name: 'Eve' } })]],
    [
      'with an approval by an admin who is suspended before it is applied',
      [approved(), accountEvent('account.updated', 'bob', { status: 'suspended' })],
    ],
    [
      'with an approval with a password that another user set',
      [accountEvent('account.updated', 'bob', { password: 'set', password_set_by: 'ada' }), approved()],
    ],
    ['with an approval with an API token that does not exist', [approved({ credential: 'token', token: 't' })]],
    [
      'with an approval with an API token that another user issued',
      [
        accountEvent('token.created', 'bob', { token: 't', issued_by: 'ada', expires_at: null }),
        approved({ credential: 'token', token: 't' }),
      ],
    ],
    ['with an approval of another plan', [approved({ plan: 'q' })]],
    ['with an approval of a plan that changed afterwards', [approved(), change('updated', { plan: 'q' })]],
    ['with an approval of an online change', [approved({ online: true })]],
    ['with an approval of other findings', [approved({ findings: { LOSES_DATA: ['articles.title'] } })]],
    [
      'with an approval that was rejected afterwards',
      [approved(), change('rejected', {}), change('updated', { title: 'again' })],
    ],
  ];
  for (const [what, events] of WRONG)
    it(`reports a change ${what}`, () => {
      const started = [...STARTED, OPENED, ...events];
      expect(replayed(...started, ...APPLIED)).to.deep.equal([
        { position: started.length + 2, reason: lacks('LOSES_DATA:articles.body') },
      ]);
    });

  it('counts an approval with an own API token, and one before the log records accounts', () => {
    const token = accountEvent('token.created', 'bob', { token: 't', issued_by: null, expires_at: null });
    const events = [token, OPENED, approved({ credential: 'token', token: 't' })];
    expect(replayed(...STARTED, ...events, ...APPLIED)).to.deep.equal([]);
    const first = [
      CREATED,
      change('commented', { comment: 'c' }),
      change('commented', { comment: 'c' }),
      policy(POLICY),
    ];
    expect(replayed(...first, OPENED, approved(), ...APPLIED)).to.deep.equal([]);
  });

  it('reports an approval by the issuer of the token that proposed the plan, even if the event leaves it out', () => {
    const { data } = OPENED as ReplayInput & { data: object };
    const openedWith = (proposed_with: object) => change('opened', { ...data, proposed_with });
    const count = (...events: ReplayInput[]) => replayed(...STARTED, ...events, approved(), ...APPLIED).length;
    const token = (issued_by: string | null) =>
      accountEvent('token.created', 'ada', { token: 't', issued_by, expires_at: null });
    const used = { credential: 'token', token: 't' };
    expect(count(openedWith({ ...used, issued_by: 'bob' }))).to.equal(1);
    expect(count(token('bob'), openedWith(used))).to.equal(1);
    expect(count(token('eve'), openedWith(used))).to.equal(0);
    expect(count(token(null), openedWith(used))).to.equal(0);
    // An earlier release did not record the credential.
    expect(count(token('bob'), OPENED)).to.equal(0);
    const password = accountEvent('account.updated', 'ada', { password: 'set', password_set_by: 'bob' });
    expect(count(password, openedWith({ credential: 'password' }))).to.equal(1);
  });

  it('accepts an approval that expects the trash to keep an object only if the trash keeps it', () => {
    const kept = approved({ kept: ['articles.body'] });
    expect(replayed(...STARTED, OPENED, kept, ...APPLIED)).to.deep.equal([]);
    const [gone, applied] = APPLIED as [ReplayInput, ReplayInput];
    expect(replayed(...STARTED, OPENED, kept, { ...gone, data: {} }, applied)).to.have.length(1);
  });

  it('reports a direct change that was evaluated against another policy, or that needed an approval', () => {
    expect(replayed(...STARTED, deleted())).to.deep.equal([{ position: 5, reason: NOT_JUDGED }]);
    expect(replayed(...STARTED, deleted({ context: { policy: 'hash 2' } }))[0]?.reason).to.equal(NOT_JUDGED);
    expect(replayed(...STARTED, deleted(judged))).to.deep.equal([
      { position: 5, reason: lacks('LOSES_DATA:articles.body') },
    ]);
    expect(replayed(...STARTED, deleted({ ...judged, data: {} }))).to.deep.equal([]);
  });

  it('reports a change without a reason if the policy requires one, unless the reason was erased', () => {
    const started = [CREATED, account('ada'), account('bob'), policy({ ...DEFAULT_POLICY, requires_reason: true })];
    const lacking = [{ position: 5, reason: 'the policy requires a reason' }];
    expect(replayed(...started, deleted(judged))).to.deep.equal(lacking);
    expect(replayed(...started, deleted({ ...judged, reason: ' ' }))).to.deep.equal(lacking);
    expect(replayed(...started, deleted({ ...judged, reason: 'unused' }))).to.deep.equal([]);
    expect(replayed(...started, deleted({ ...judged, actor: { id: 'ada', name: null } }))).to.deep.equal([]);
    expect(replayed(...started, deleted({ reason: 'unused' }))).to.deep.equal([{ position: 5, reason: NOT_JUDGED }]);
    expect(replayed(...started, OPENED), 'a proposal changes nothing').to.deep.equal([]);
  });

  it('reports a requested purge that was not evaluated, or that needed an approval, but no expired one', () => {
    const purged = (more: object = {}, data: object = {}): ReplayInput => ({
      type: 'trash.purged',
      collection: 'articles',
      field: 'body',
      subject: { kind: 'trash', id: '3' },
      data: { position: 3, ...data },
      ...more,
    });
    expect(replayed(...STARTED, purged())).to.deep.equal([{ position: 5, reason: NOT_JUDGED }]);
    expect(replayed(...STARTED, purged(judged))).to.deep.equal([
      { position: 5, reason: lacks('LOSES_DATA:articles.body') },
    ]);
    expect(replayed(...STARTED, purged({}, { expired: true }))).to.deep.equal([]);
    expect(replayed(CREATED, account('ada'), purged())).to.deep.equal([]);
  });

  it('reports a change to the policy that its predecessor did not allow', () => {
    const strict = [CREATED, account('ada'), account('bob'), policy({ ...POLICY, policy_changes: 'approve' })];
    expect(replayed(...strict, policy(DEFAULT_POLICY, judged))).to.deep.equal([
      { position: 5, reason: lacks('LOOSENS_POLICY:') },
    ]);
    const asking = [CREATED, account('ada'), account('bob'), policy({ ...POLICY, policy_changes: 'acknowledge' })];
    expect(replayed(...asking, policy(DEFAULT_POLICY, judged))).to.deep.equal([
      { position: 5, reason: 'the policy requires an acknowledgement (LOOSENS_POLICY:)' },
    ]);
    const context = { ...judged.context, acknowledged: [null, { code: 'LOOSENS_POLICY', place: '' }] };
    expect(replayed(...asking, policy(DEFAULT_POLICY, { context }))).to.deep.equal([]);
  });

  it('reports a request that was applied with another plan than it shows, even without a policy', () => {
    const free = [CREATED, OPENED];
    const other = (...batch: ReplayInput[]) => replayed(...free, ...batch).map(({ position }) => position);
    expect(replayed(...free, ...APPLIED)).to.deep.equal([]);
    const differs = [{ position: 4, reason: `it differs from the plan of change request ${ID}` }];
    expect(replayed(...free, { ...DELETED, field: 'title' }, applied())).to.deep.equal(differs);
    expect(replayed(...free, DELETED, applied({ purge: true }))).to.deep.equal(differs);
    expect(replayed(...free, DELETED, applied({ acknowledge: [{ code: 'c', place: '' }] }))).to.deep.equal(differs);
    expect(other(applied()), 'nothing').to.deep.equal([3]);
    expect(other(DELETED, { ...DELETED, field: 'title' }, applied()), 'more').to.deep.equal([5]);
    expect(other(DELETED, { ...account('eve'), batch: 'apply' }, applied()), 'an event about something else')
      .to.deep //
      .equal([5]);
    const patch = [{ op: 'replace', path: '/meta/note', value: 'n' }];
    const altered = { type: 'field.updated', collection: 'articles', field: 'body', data: { patch } };
    expect(replayed(CREATED, altered, OPENED, ...APPLIED)[0]?.position, 'another field before').to.equal(5);
    const [unreadable] = replayed(...free, { ...DELETED, collection: 'gone' }, applied());
    expect(unreadable?.reason).to.contain('event 3 cannot be read: ');
  });

  it('reports an event about the policy that cannot be read, once, and at most 100 changes', () => {
    expect(replayed(...STARTED, change('approved', {}), deleted()).map(({ position }) => position)).to.deep.equal([5]);
    expect(replayed({ type: 'from.tomorrow', data: {} }, ...STARTED, deleted())).to.have.length(1);
    expect(replayed(...STARTED, ...Array.from({ length: 150 }, () => deleted()))).to.have.length(100);
  });
});

describe('the replay of trust rules', () => {
  const ISSUER = 'https://token.example.com';
  const PIPELINE = { id: 'ada', name: `ci:deploy repo:shop/schema:ref:main (${ISSUER})` };
  const SCOPE = { role: 'admin', actions: ['read', 'apply'] };
  const RULE: TrustRule = {
    name: 'deploy',
    user: 'ada',
    set_by: 'bob',
    issuer: ISSUER,
    audience: 'dps',
    claims: { sub: 'repo:shop/schema:*' },
    scope: SCOPE,
    minutes: 15,
  };
  const trusted = (more: Partial<TrustRule> = {}, event: Partial<Added> = {}): ReplayInput => ({
    type: 'trust.updated',
    subject: { kind: 'trust', id: 'rules' },
    data: { rules: [{ ...RULE, ...more }] },
    ...event,
  });
  const exchanged = (data: object = {}): ReplayInput => ({
    ...accountEvent('token.created', 'ada', {
      token: 't',
      issued_by: 'bob',
      expires_at: '2026-01-02T03:19:05.678Z',
      scope: SCOPE,
      rule: 'deploy',
      ...data,
    }),
    actor: PIPELINE,
  });
  const updated = (user: string, data: Parameters<typeof accountEvent<'account.updated'>>[2]): ReplayInput =>
    accountEvent('account.updated', user, data);
  const byPipeline = (more: Partial<Added> = {}): ReplayInput => deleted({ actor: PIPELINE, ...more });
  const BEFORE = [CREATED, account('ada'), account('bob')];
  const reasonsOf = (...events: ReplayInput[]) => replayed(...BEFORE, ...events).map(({ reason }) => reason);
  const NO_RULE = 'no trust rule in force allowed its pipeline';
  const NO_TOKEN = 'no trust rule in force allowed the API token t';

  it('accepts a token of a rule, and changes that the rule allows', () => {
    expect(reasonsOf(trusted(), exchanged(), byPipeline())).to.deep.equal([]);
    const scope = { ...SCOPE, collections: ['art*'] };
    expect(reasonsOf(trusted({ scope }), exchanged({ scope }), byPipeline())).to.deep.equal([]);
  });

  it('accepts a token with the role that both the rule and its user have', () => {
    const scope = { ...SCOPE, role: 'author' };
    const token = exchanged({ scope });
    expect(reasonsOf(trusted({ scope }), token)).to.deep.equal([]);
    expect(reasonsOf(trusted(), updated('ada', { role: 'author' }), token)).to.deep.equal([]);
  });

  it('reports a token that no rule allowed', () => {
    const EXCHANGES: [ReplayInput[], ReplayInput][] = [
      [[], exchanged()],
      [[trusted({ name: 'other' })], exchanged()],
      [[trusted({ user: 'bob' })], exchanged()],
      [[trusted()], exchanged({ issued_by: 'ada' })],
      [[trusted()], exchanged({ scope: { ...SCOPE, actions: ['read', 'apply', 'operate'] } })],
      [[trusted({ scope: { ...SCOPE, role: 'author' } })], exchanged()],
      [[trusted(), updated('ada', { role: 'author' })], exchanged()],
      [[trusted(), updated('ada', { status: 'suspended' })], exchanged()],
      [[trusted({ scope: { ...SCOPE, networks: ['10.0.0.0/8'] } })], exchanged()],
      [[trusted()], exchanged({ expires_at: '2026-01-03T03:19:05.678Z' })],
      [[trusted()], exchanged({ expires_at: null })],
      [[trusted(), updated('bob', { role: 'author' })], exchanged()],
    ];
    for (const [before, token] of EXCHANGES) expect(reasonsOf(...before, token)).to.deep.equal([NO_TOKEN]);
  });

  it('reports changes by a pipeline that no rule in force allowed', () => {
    const other = (name: string) => byPipeline({ actor: { id: 'ada', name } });
    for (const events of [
      [byPipeline()],
      [trusted({ user: 'bob' }), byPipeline()],
      [trusted(), other(`ci:deploy repo:evil/schema:ref:main (${ISSUER})`)],
      [trusted(), other('ci:deploy repo:shop/schema:ref:main (https://evil.example.com)')],
      [trusted(), other(`ci:deploys repo:shop/schema:ref:main (${ISSUER})`)],
    ])
      expect(reasonsOf(...events)).to.deep.equal([NO_RULE]);
  });

  it('evaluates a change by the rules in force at its position, however long it took', () => {
    const late = byPipeline({ occurred_at: '2026-01-02T03:34:05.678Z' });
    expect(reasonsOf(trusted(), late, trusted({ name: 'other' }))).to.deep.equal([]);
    expect(reasonsOf(trusted(), trusted({ name: 'other' }), byPipeline())).to.deep.equal([NO_RULE]);
    const reduced = trusted({ scope: { ...SCOPE, actions: ['read'] } });
    expect(reasonsOf(trusted(), reduced, byPipeline())).to.deep.equal([
      'the trust rule "deploy" does not grant the action apply',
    ]);
  });

  it('accepts a change if one of the rules that fit the name of its pipeline allows it', () => {
    const rules = [
      { ...RULE, claims: { sub: '*' }, scope: { ...SCOPE, actions: ['read'] } },
      { ...RULE, name: 'deploy prod' },
    ];
    const actor = { id: 'ada', name: `ci:deploy prod repo:shop/schema:ref:main (${ISSUER})` };
    expect(reasonsOf(trusted({}, { data: { rules } }), byPipeline({ actor }))).to.deep.equal([]);
    expect(reasonsOf(trusted({}, { data: { rules: rules.slice(0, 1) } }), byPipeline({ actor }))).to.have.length(1);
  });

  it('reports events that the actions, the role or the collections of the rule do not allow', () => {
    const exceeds = (scope: TrustRule['scope'], event: ReplayInput) => reasonsOf(trusted({ scope }), event);
    const named = 'the trust rule "deploy"';
    expect(exceeds({ ...SCOPE, actions: ['read', 'propose'] }, byPipeline())).to.deep.equal([
      `${named} does not grant the action apply`,
    ]);
    expect(exceeds({ ...SCOPE, role: 'author' }, byPipeline())).to.deep.equal([
      `${named} does not grant the role admin`,
    ]);
    expect(exceeds({ ...SCOPE, collections: ['pages'] }, byPipeline())).to.deep.equal([
      `${named} does not include the collection "articles"`,
    ]);
    const by = { actor: PIPELINE };
    expect(exceeds(SCOPE, { ...OPENED, ...by })).to.deep.equal([`${named} does not grant the action propose`]);
    const online = change('opened', { ...request, online: true });
    expect(exceeds(SCOPE, { ...online, ...by })).to.deep.equal([]);
    expect(exceeds({ ...SCOPE, actions: ['propose'] }, { ...online, ...by })).to.deep.equal([
      `${named} does not grant the action apply`,
    ]);
    const webhook = { type: 'webhook.deleted', subject: { kind: 'webhook', id: 'w' }, data: {} };
    for (const event of [account('eve'), policy(DEFAULT_POLICY), trusted(), webhook])
      expect(exceeds(SCOPE, { ...event, ...by })).to.deep.equal([`${named} cannot allow the event ${event.type}`]);
  });

  describe('with a rule that is limited to collections', () => {
    const scope = { ...SCOPE, actions: ['read', 'propose', 'apply'], collections: ['articles'] };
    const named = 'the trust rule "deploy" does not include';
    const ALL = `${named} all collections that change`;
    const exceeds = (...events: ReplayInput[]) =>
      reasonsOf(trusted({ scope }), ...events.map((event) => ({ batch: 'b', actor: PIPELINE, ...event })));
    const related = (one_collection: string): ReplayInput => ({
      type: 'relation.created',
      collection: 'articles',
      field: 'body',
      data: {
        relation: {
          many_collection: 'articles',
          many_field: 'body',
          one_collection,
          one_field: null,
          one_collection_field: null,
          one_allowed_collections: null,
          junction_field: null,
          sort_field: null,
          one_deselect_action: 'nullify',
          schema: null,
        },
      },
    });
    const trigger = (table: string): ReplayInput => {
      const subject = { kind: 'trigger', id: `t on ${table}` };
      const definition = `CREATE TRIGGER t BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION f()`;
      return { type: 'object.created', subject, data: { object: { ...subject, definition, comment: null } } };
    };
    const view = { kind: 'view', id: 'v' };
    const object = { ...view, definition: 'CREATE VIEW v AS SELECT 1', comment: null };

    it('reports a different name, a different end of a relation, and objects outside them', () => {
      expect(exceeds({ type: 'collection.renamed', collection: 'articles', data: { to: 'pages' } })).to.deep.equal([
        ALL,
      ]);
      expect(exceeds(related('pages'))).to.deep.equal([ALL]);
      expect(exceeds({ type: 'object.created', subject: view, data: { object } })).to.deep.equal([ALL]);
      expect(exceeds(trigger('pages'))).to.deep.equal([ALL]);
    });

    it('reports change requests about other collections', () => {
      const opened = (collections: string[]) => change('opened', { ...request, collections });
      expect(exceeds(opened(['articles', 'pages']))).to.deep.equal([`${named} the collection "pages"`]);
      expect(exceeds(opened(['articles']))).to.deep.equal([]);
    });

    it('accepts relations and triggers within them, and exchanges', () => {
      expect(exceeds(related('articles'))).to.deep.equal([]);
      expect(exceeds(trigger('articles'))).to.deep.equal([]);
      expect(exceeds(exchanged({ scope }))).to.deep.equal([]);
    });

    it('accepts a trigger that is deleted with its table', () => {
      const { subject } = trigger('articles');
      const created = { ...trigger('articles'), batch: 'before', actor: ADA };
      const gone = { type: 'object.deleted', ...(subject && { subject }), data: {} };
      expect(exceeds(created, gone, { type: 'collection.deleted', collection: 'articles', data: {} })).to.be.empty;
    });
  });

  it('ignores what the service applies later, and events whose actor was erased', () => {
    const later = { actor: PIPELINE, batch: 'apply', request_id: null };
    const finished = [deleted(later), change('applied', { findings: {} }, later)];
    const requested = { ...OPENED, actor: PIPELINE };
    const rule = trusted({ scope: { ...SCOPE, actions: ['propose'] } });
    expect(reasonsOf(rule, requested, trusted({ name: 'other' }), ...finished)).to.deep.equal([]);
    const scheduled = change('scheduled', { at: AT }, { actor: PIPELINE });
    const ended = trusted({ name: 'other' }, { occurred_at: '2025-01-01T00:00:00.000Z' });
    expect(reasonsOf(OPENED, trusted(), scheduled, ended, ...finished)).to.deep.equal([]);
    expect(reasonsOf(OPENED, ...finished.map((event) => ({ ...event, request_id: 'r' })))).to.deep.equal([NO_RULE]);
    expect(reasonsOf(byPipeline({ request_id: null }))).to.deep.equal([NO_RULE]);
    expect(reasonsOf(byPipeline({ actor: { id: 'ada', name: null } }))).to.deep.equal([]);
  });

  it('reports what the service would have applied for a pipeline that did not request it', () => {
    const later = { actor: PIPELINE, batch: 'apply', request_id: null };
    expect(reasonsOf(OPENED, deleted(later), change('applied', { findings: {} }, later))).to.deep.equal([NO_RULE]);
    expect(reasonsOf(deleted(later), change('commented', { comment: 'c' }, later))).to.deep.equal([NO_RULE]);
  });

  it('reports an exchange that cannot be read', () => {
    const unreadable = { ...exchanged(), subject: { kind: 'other', id: 'x' }, data: {} };
    for (const events of [[unreadable], [unreadable, deleted()]]) {
      const [reason, ...others] = reasonsOf(...events);
      expect(reason).to.contain('the policy cannot be followed: event 4 cannot be read');
      expect(others).to.be.empty;
    }
  });
});
