import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { findingsOf } from '../../../src/schema/findings/planned-batch.js';
import { initialState } from '../../../src/schema/model/state.js';
import type { LogEvent } from '../../../src/schema/model/events.js';
import { DEFAULT_POLICY, type Policy } from '../../../src/schema/policy.js';
import { type Edited, type DiffOptions, LIBRARY, column, edit, fieldIn, key, table } from './diffs.js';
import { ROWS } from './plan.js';

const policyOf = (members: Partial<Policy>): Policy => ({ ...DEFAULT_POLICY, ...members });

const unique = (snapshot: Edited): void => void Object.assign(fieldIn(snapshot, 'title').schema, { is_unique: true });

const withRows = (rows: number | null, bytes: number | null): Pick<DiffOptions, 'known'> => ({
  known: { statistics: new Map([['articles', { ...ROWS(0), rows, bytes }]]) },
});

describe('findings with a policy', () => {
  const policy = policyOf({ online_above_rows: 1_000 });
  const notOnline = (options: DiffOptions, change = unique) =>
    edit(LIBRARY, change, { policy, ...options }).findings.filter(({ code }) => code === 'NOT_ONLINE');

  it('NOT_ONLINE is found above the row limit, or for unknown sizes', () => {
    expect(notOnline(withRows(1_001, 8_192))).to.have.length(1);
    expect(notOnline(withRows(1_000, 1_000_000))).to.deep.equal([]);
    expect(notOnline(withRows(null, 1_000_000))).to.have.length(1);
    expect(notOnline(withRows(null, 8_192))).to.deep.equal([]);
    expect(notOnline({})).to.have.length(1);
  });

  it('NOT_ONLINE shows the online request, and is found only if the policy uses it', () => {
    const [finding] = notOnline(withRows(5_000, null));
    expect(finding).to.include({ level: 'danger', collection: 'articles', field: 'title' });
    expect(finding?.safer?.request?.path).to.equal('/fields/articles/title?online');
    expect(notOnline({ ...withRows(5_000, null), online: true })).to.deep.equal([]);
    expect(notOnline({ ...withRows(5_000, null), policy: DEFAULT_POLICY })).to.deep.equal([]);
  });

  it('NOT_ONLINE is not found for new objects or fast statements', () => {
    const another = (snapshot: Edited): void => {
      snapshot.collections.push(table('tags'));
      snapshot.fields.push(key('tags'), column('tags', 'name', 'string', { is_unique: true }));
      Object.assign(fieldIn(snapshot, 'title'), { meta: { note: 'a note' } });
    };
    expect(notOnline(withRows(1_000_000, null), another)).to.deep.equal([]);
  });

  const many = (snapshot: Edited): void =>
    ['a', 'b', 'log_a', 'log_b'].forEach((name) => {
      snapshot.collections.push(table(name));
      snapshot.fields.push(key(name, 'integer'));
    });
  const overflowing = (options: DiffOptions) =>
    edit(LIBRARY, many, options)
      .findings.filter(({ code }) => code === 'KEY_MAY_OVERFLOW')
      .map(({ collection, places }) => places?.map((each) => each.collection) ?? [collection]);

  it('are combined if the same action applies', () => {
    expect(overflowing({})).to.deep.equal([['a', 'b', 'log_a', 'log_b']]);
    const collections = [{ pattern: 'log_*', findings: { KEY_MAY_OVERFLOW: 'refuse' as const } }];
    expect(overflowing({ policy: policyOf({ collections }) })).to.deep.equal([
      ['a', 'b'],
      ['log_a', 'log_b'],
    ]);
  });

  it('are separate if a rule for a table above one of them decides about it', () => {
    const above = (name: string) => new Set(name === 'b' ? ['log_all'] : []);
    const judgedNames = (name: string) => ({ own: new Set<string>(), above: above(name) });
    const rule = (action: 'refuse' | 'approve') =>
      policyOf({ collections: [{ pattern: 'log_all', findings: { KEY_MAY_OVERFLOW: action } }] });
    expect(overflowing({ policy: rule('refuse'), judgedNames })).to.deep.equal([['a', 'log_a', 'log_b'], ['b']]);
    expect(overflowing({ policy: rule('approve'), judgedNames })).to.deep.equal([['a', 'log_a', 'log_b'], ['b']]);
  });

  it('are separate if they must be or were acknowledged', () => {
    const acknowledged = policyOf({ findings: { KEY_MAY_OVERFLOW: 'acknowledge' } });
    expect(overflowing({ policy: acknowledged })).to.deep.equal([['a'], ['b'], ['log_a'], ['log_b']]);
    const apart = ['KEY_MAY_OVERFLOW:b.id', 'KEY_MAY_OVERFLOW:log_a'];
    expect(overflowing({ policy: DEFAULT_POLICY, apart })).to.deep.equal([['a', 'log_a', 'log_b'], ['b']]);
  });

  it('cover adopted objects if the policy uses them', () => {
    const { after: created } = edit(initialState(), (snapshot) => {
      snapshot.collections.push(table('order'));
      snapshot.fields.push(column('order', 'note', 'text', { is_nullable: false }));
    });
    const node = created.collections.get('order');
    if (node === undefined) throw new Error('it was not made');
    const fields = [...node.fields.values()];
    const event: LogEvent = {
      type: 'collection.adopted',
      version: 1,
      collection: 'order',
      field: null,
      data: { collection: node.collection, fields },
    };
    const before = initialState();
    const plan = { before, events: [event], ...runToEnd(planBatch(before, [event], 'public')) };
    expect(runToEnd(findingsOf(plan))).to.deep.equal([]);
    const codes = runToEnd(findingsOf({ ...plan, adopted: true })).map(({ code }) => code);
    expect(codes).to.include.members(['RESERVED_NAME', 'NO_PRIMARY_KEY']);
    expect(codes).not.to.include('REQUIRED_FIELD');
  });
});
