import { expect } from 'chai';
import { UnreadableEventError } from '../../../src/schema/fold/upcasting.js';
import { allowedActions } from '../../../src/schema/change-requests/fold.js';
import { evolveChange, foldChanges, isAllowedAfter } from '../../../src/schema/change-requests/fold.js';
import {
  documentsOf,
  CHANGE_STATES,
  type ChangeEvent,
  type ChangeRequest,
  type ChangeState,
  type StoredChangeEvent,
  protectedCollections,
} from '../../../src/schema/change-requests/model.js';
import type { StoredEvent } from '../../../src/schema/model/events.js';

type Type = ChangeEvent['type'];

const ID = '7b0b6c6e-0000-4000-8000-000000000001';
const OTHER = '7b0b6c6e-0000-4000-8000-000000000002';
const AUTHOR = { id: 'a', name: 'Ada' };
const STEP = { key: 'validate orders.title', kind: 'validate', collection: 'orders', field: 'title', summary: 'v' };

const DATA: { readonly [T in Type]: Extract<ChangeEvent, { type: T }>['data'] } = {
  'change.opened': { operation: 'update-fields', document: 'wanted', online: true, collections: ['orders'] },
  'change.updated': { title: 'Fewer titles', plan: 'another plan' },
  'change.commented': { comment: 'said' },
  'change.approved': {
    plan: 'plan',
    complete: true,
    comment: 'approved',
    online: true,
    credential: 'token',
    findings: { LOSES_DATA: ['orders'] },
    kept: [],
  },
  'change.rejected': { comment: 'rejected' },
  'change.scheduled': { at: '2026-01-01T03:00:00.000Z' },
  'change.preparing': { collections: ['orders', 'customers'], steps: [STEP] },
  'change.prepared': { steps: [{ key: STEP.key, milliseconds: 7 }] },
  'change.applied': {},
  'change.failed': { code: 'DATABASE_REFUSED', document: 'why' },
  'change.withdrawn': {},
};

/** At the second of its position. */
function eventOf(type: Type, position: number, id = ID): StoredChangeEvent & StoredEvent {
  const at = { position, batch: `batch ${position}`, occurred_at: timeAt(position), actor: AUTHOR, reason: 'because' };
  const event = { type, version: 1, collection: null, field: null, subject: { kind: 'change', id }, data: DATA[type] };
  return { ...event, ...at } as unknown as StoredChangeEvent & StoredEvent;
}

const timeAt = (position: number): string => `2026-01-01T00:00:0${position}.000Z`;

/** Used for requests without a proposal. */
type OnlineState = Exclude<ChangeState, 'open' | 'approved' | 'rejected' | 'scheduled'>;
const ONLINE_STATES = CHANGE_STATES.filter(
  (state): state is OnlineState => !['open', 'approved', 'rejected', 'scheduled'].includes(state),
);

/** Events that lead to each state. */
const HISTORIES: Readonly<Record<OnlineState, readonly Type[]>> = {
  queued: ['change.opened'],
  preparing: ['change.opened', 'change.preparing'],
  prepared: ['change.opened', 'change.preparing', 'change.prepared'],
  applied: ['change.opened', 'change.preparing', 'change.prepared', 'change.applied'],
  failed: ['change.opened', 'change.preparing', 'change.failed'],
  withdrawn: ['change.opened', 'change.withdrawn'],
};

const OPEN = ['queued', 'preparing', 'prepared'] as const;

/** The test's own table: where each event may occur, and the resulting state. */
const ALLOWED: Readonly<Record<Type, { in: readonly (OnlineState | 'none')[]; then: OnlineState }>> = {
  'change.opened': { in: ['none'], then: 'queued' },
  'change.updated': { in: [], then: 'queued' },
  'change.commented': { in: [], then: 'queued' },
  'change.approved': { in: [], then: 'queued' },
  'change.rejected': { in: [], then: 'queued' },
  'change.scheduled': { in: [], then: 'queued' },
  'change.preparing': { in: OPEN, then: 'preparing' },
  'change.prepared': { in: ['preparing'], then: 'prepared' },
  'change.applied': { in: OPEN, then: 'applied' },
  'change.failed': { in: OPEN, then: 'failed' },
  'change.withdrawn': { in: OPEN, then: 'withdrawn' },
};

function requestIn(state: OnlineState | 'none'): ChangeRequest | undefined {
  const types = state === 'none' ? [] : HISTORIES[state];
  return foldChanges(types.map((type, index) => eventOf(type, index + 1))).get(ID);
}

describe('the fold of change requests', () => {
  for (const type of Object.keys(ALLOWED) as Type[])
    for (const state of ['none', ...ONLINE_STATES] as const) {
      const { in: states, then } = ALLOWED[type];
      if (states.includes(state))
        it(`given ${state}, when ${type}, then ${then}`, () => {
          const before = requestIn(state);
          const kept = structuredClone(before);
          const after = evolveChange(before, eventOf(type, 9));
          expect(after).to.include({ id: ID, state: then, position: 9, changed_at: timeAt(9) });
          expect(before, 'the request before was changed').to.deep.equal(kept);
          if (before !== undefined) expect(isAllowedAfter(before, type)).to.equal(true);
        });
      else
        it(`given ${state}, when ${type}, then it is rejected`, () => {
          expect(() => evolveChange(requestIn(state), eventOf(type, 9)))
            .to.throw(UnreadableEventError)
            .with.property('message')
            .that.includes(state === 'none' ? 'the change request does not exist' : `the change request is ${state}`);
          const before = requestIn(state);
          if (before !== undefined) expect(isAllowedAfter(before, type)).to.equal(false);
        });
    }

  it('given nothing, when opened, then it has its content and holds no tables', () => {
    const request = requestIn('queued');
    expect(request).to.deep.equal({
      id: ID,
      state: 'queued',
      operation: 'update-fields',
      document: 'wanted',
      online: true,
      collections: ['orders'],
      author: AUTHOR,
      authors: [AUTHOR],
      reason: 'because',
      opened_at: timeAt(1),
      opened_position: 1,
      changed_at: timeAt(1),
      position: 1,
      proposal: null,
      applicant: AUTHOR,
      schedule: null,
      reverts: null,
      preparation: null,
      result: null,
      failure: null,
    });
    expect(protectedCollections(request as ChangeRequest)).to.deep.equal([]);
  });

  it('given a preparation, when prepared, then each step has its time and its tables are held', () => {
    const request = requestIn('prepared') as ChangeRequest;
    expect(request.preparation?.steps).to.deep.equal([{ ...STEP, milliseconds: 7 }]);
    expect(protectedCollections(request)).to.deep.equal(['orders', 'customers']);
  });

  it('given a prepared one, when prepared again, then it has the new steps without times', () => {
    const request = evolveChange(requestIn('prepared'), eventOf('change.preparing', 4));
    expect(request.preparation).to.deep.equal(DATA['change.preparing']);
  });

  it('given a request without a reason, when its application is requested, then it gets the reason of that', () => {
    const open = { ...(requestIn('queued') as ChangeRequest), reason: null };
    const proposed = { title: 'Titles', plan: 'plan', base: 0, approvals: [], rejection: null, comments: [] };
    const proposal = { ...open, state: 'open' as const, proposal: { ...proposed, described_at: null } };
    const preparing = eventOf('change.preparing', 4);
    const withApply = { ...preparing, data: { ...preparing.data, apply: true } } as StoredChangeEvent;
    expect(evolveChange(proposal, eventOf('change.scheduled', 4)).reason).to.equal('because');
    expect(evolveChange(proposal, withApply).reason).to.equal('because');
    expect(evolveChange(proposal, preparing).reason, 'nobody wants it applied yet').to.equal(null);
    expect(evolveChange({ ...proposal, reason: 'own' }, withApply).reason).to.equal('own');
  });

  it('given an end, then it has a result, holds nothing, and only an applied one can be reverted', () => {
    expect(requestIn('applied')).to.deep.include({ result: { batch: 'batch 4', position: 4 }, failure: null });
    expect(requestIn('failed')).to.deep.include({ result: null, failure: DATA['change.failed'] });
    expect(requestIn('withdrawn')).to.deep.include({ result: null, failure: null });
    for (const state of ['applied', 'failed', 'withdrawn'] as const) {
      expect(protectedCollections(requestIn(state) as ChangeRequest)).to.deep.equal([]);
      expect(allowedActions(requestIn(state) as ChangeRequest)).to.deep.equal(state === 'applied' ? ['revert'] : []);
    }
    for (const state of OPEN) expect(allowedActions(requestIn(state) as ChangeRequest)).to.deep.equal(['withdraw']);
  });

  it('given several requests in one log, when folded in two parts, then the result is the same', () => {
    const types = HISTORIES.applied;
    const log = types.flatMap((type, index) => [eventOf(type, 2 * index + 1), eventOf(type, 2 * index + 2, OTHER)]);
    const unrelated = { ...log[0], type: 'collection.deleted', subject: null } as unknown as StoredEvent;
    const full = foldChanges([unrelated, ...log]);
    expect([...full.keys()]).to.deep.equal([ID, OTHER]);
    const begun = foldChanges(log.slice(0, 3));
    const states = [...begun.values()].map(({ state }) => state);
    expect(foldChanges(log.slice(3), begun)).to.deep.equal(full);
    expect([...begun.values()].map(({ state }) => state)).to.deep.equal(states);
  });

  it('given an event of another request or none, then it is rejected', () => {
    expect(() => evolveChange(requestIn('queued'), eventOf('change.withdrawn', 2, OTHER))).to.throw(
      UnreadableEventError,
    );
    const nameless = { ...eventOf('change.opened', 1), subject: null } as unknown as StoredChangeEvent;
    expect(() => evolveChange(undefined, nameless)).to.throw(
      UnreadableEventError,
      'event 1 cannot be read: change.opened does not name a change request',
    );
  });

  it('counts everyone who changes the plan or its preparation as an author, but not someone who changes the title', () => {
    const proposal = { title: 'Fewer titles', plan: 'plan', base: null };
    const data = { ...DATA['change.opened'], online: false, proposal };
    const opened = { ...eventOf('change.opened', 1), data } as unknown as StoredChangeEvent;
    const authorsAfter = (change: object): string[] => {
      const updated = { ...eventOf('change.updated', 2), actor: { id: 'g', name: 'Grace' }, data: change };
      return evolveChange(evolveChange(undefined, opened), updated as unknown as StoredChangeEvent).authors.map(
        ({ id }) => id,
      );
    };
    expect(authorsAfter({ title: 'Other' })).to.deep.equal(['a']);
    expect(authorsAfter({ plan: 'plan', online: false })).to.deep.equal(['a']);
    expect(authorsAfter({ plan: 'another plan' })).to.deep.equal(['a', 'g']);
    expect(authorsAfter({ plan: 'plan', online: true })).to.deep.equal(['a', 'g']);
    const proposed_with = { credential: 'token', token: 't', issued_by: 'i' };
    expect(authorsAfter({ plan: 'another plan', proposed_with })).to.deep.equal(['a', 'g', 'i']);
    expect(authorsAfter({ plan: 'plan', proposed_with })).to.deep.equal(['a']);
  });

  it('lists the documents that its events name', () => {
    expect(documentsOf(eventOf('change.opened', 1))).to.deep.equal(['wanted']);
    expect(documentsOf(eventOf('change.failed', 1))).to.deep.equal(['why']);
    expect(documentsOf(eventOf('change.commented', 1))).to.deep.equal(['said']);
    expect(documentsOf(eventOf('change.approved', 1))).to.deep.equal(['approved']);
    expect(documentsOf(eventOf('change.applied', 1))).to.deep.equal([]);
    expect(documentsOf({ type: 'collection.deleted', data: { document: 'no' } })).to.deep.equal([]);
  });
});
