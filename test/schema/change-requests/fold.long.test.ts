import { expect } from 'chai';
import fc from 'fast-check';
import { UnreadableEventError } from '../../../src/schema/fold/upcasting.js';
import { allowedActions } from '../../../src/schema/change-requests/fold.js';
import { evolveChange, foldChanges, isAllowedAfter } from '../../../src/schema/change-requests/fold.js';
import {
  CHANGE_STATES,
  type ChangeEvent,
  type ChangeRequest,
  type StoredChangeEvent,
  protectedCollections,
  isAtRest,
} from '../../../src/schema/change-requests/model.js';
import type { StoredEvent } from '../../../src/schema/model/events.js';

type Type = ChangeEvent['type'];
type Event = StoredChangeEvent & StoredEvent;

const TYPES: readonly Type[] = [
  'change.opened',
  'change.updated',
  'change.commented',
  'change.approved',
  'change.rejected',
  'change.scheduled',
  'change.preparing',
  'change.prepared',
  'change.applied',
  'change.failed',
  'change.withdrawn',
];

/** The test's own model; `!` means that reviewers must decide again. */
const ONLINE: Readonly<Record<string, Partial<Record<Type, string>>>> = {
  none: { 'change.opened': 'queued' },
  queued: { 'change.preparing': 'preparing', ...ends() },
  preparing: { 'change.preparing': 'preparing', 'change.prepared': 'prepared', ...ends() },
  prepared: { 'change.preparing': 'preparing', ...ends() },
};

function ends(): Partial<Record<Type, string>> {
  return { 'change.applied': 'applied', 'change.failed': 'failed', 'change.withdrawn': 'withdrawn' };
}

const SAID = { 'change.approved': '=', 'change.rejected': 'rejected', 'change.commented': '=' };
const CARRIED_OUT = {
  'change.scheduled': 'scheduled',
  'change.preparing': 'preparing',
  'change.applied': 'applied',
  'change.withdrawn': 'withdrawn',
};

/** `=`: unchanged. An update and an approval also depend on their content. */
const PROPOSED: Readonly<Record<string, Partial<Record<Type, string>>>> = {
  open: { ...SAID, ...CARRIED_OUT, 'change.updated': 'open', 'change.approved': 'complete?' },
  approved: { ...SAID, ...CARRIED_OUT, 'change.updated': 'same plan?' },
  rejected: { 'change.commented': '=', 'change.updated': 'open', 'change.withdrawn': 'withdrawn' },
  scheduled: { ...SAID, ...CARRIED_OUT, 'change.updated': 'same plan?', 'change.failed': 'failed' },
  preparing: { ...ONLINE['preparing'], ...SAID },
  prepared: { ...ONLINE['prepared'], ...SAID, 'change.scheduled': 'scheduled' },
  applied: { 'change.commented': '=' },
  failed: { ...SAID, ...CARRIED_OUT, 'change.updated': 'open' },
  withdrawn: { 'change.commented': '=' },
};

/** The model's state of a request. */
interface ModelState {
  state: string;
  proposed: boolean;
  plan: string | undefined;
  /** For a scheduled one: its former state, with later events. */
  approved: boolean;
  prepared: boolean;
}

const NONE: ModelState = { state: 'none', proposed: false, plan: undefined, approved: false, prepared: false };

type Data = { proposal?: { plan: string }; plan?: string; complete?: boolean };

function nextOf(known: ModelState, event: Event): ModelState | undefined {
  const next = (known.proposed ? PROPOSED : ONLINE)[known.state]?.[event.type];
  const data = event.data as Data;
  if (next === undefined) return undefined;
  if (event.type === 'change.opened') return stateAfterOpening(data);
  const plan = event.type === 'change.updated' ? (data.plan ?? known.plan) : known.plan;
  return {
    proposed: known.proposed,
    plan,
    state: stateAfter(known, next, data),
    ...stateAfterWaiting(known, next, data),
  };
}

/** The state to which a scheduled one returns. */
function stateAfterWaiting(
  known: ModelState,
  next: string,
  { complete }: Data,
): Pick<ModelState, 'approved' | 'prepared'> {
  const { state } = known;
  if (state !== 'scheduled') return { approved: state === 'approved', prepared: state === 'prepared' };
  const stays = next === 'scheduled' || next === '=';
  return { approved: (stays && known.approved) || complete === true, prepared: known.prepared };
}

const stateAfterOpening = ({ proposal }: Data): ModelState => ({
  state: proposal ? 'open' : 'queued',
  proposed: proposal !== undefined,
  plan: proposal?.plan,
  approved: false,
  prepared: false,
});

function stateAfter({ state, plan, approved }: ModelState, next: string, data: Data): string {
  if (next === 'complete?') return data.complete === true ? 'approved' : state;
  if (next === 'same plan?')
    return (state === 'approved' || approved) && (data.plan === undefined || data.plan === plan) ? 'approved' : 'open';
  return next === '=' ? state : next;
}

const HOLDING = ['queued', 'preparing', 'prepared'];

const names = fc.uniqueArray(fc.constantFrom('orders', 'customers', 'Ünïcode', '__proto__', 'constructor'), {
  minLength: 1,
});
const steps = fc.uniqueArray(fc.constantFrom('one', 'two', 'toString', '__proto__'), { minLength: 1 });

const plans = fc.constantFrom('plan one', 'plan two', '__proto__');
const titles = fc.constantFrom('More titles', '__proto__');
const proposals = fc.record({ title: titles, plan: plans, base: fc.nat(9) });

const dataOf: { readonly [T in Type]: fc.Arbitrary<Extract<ChangeEvent, { type: T }>['data']> } = {
  'change.opened': fc
    .record({ collections: names, proposal: fc.option(proposals) })
    .map(({ collections, proposal }) => ({
      operation: 'apply-diff',
      document: 'wanted',
      online: true,
      collections,
      ...(proposal && { proposal }),
    })),
  'change.updated': fc.record({ title: titles, plan: plans, reason: fc.option(titles) }, { requiredKeys: [] }),
  'change.commented': fc.constant({ comment: 'said' }),
  'change.approved': fc.record({
    plan: plans,
    complete: fc.boolean(),
    online: fc.boolean(),
    credential: fc.constantFrom('token' as const, 'password' as const),
    findings: fc.constant({ LOSES_DATA: ['orders'] }),
    kept: fc.constant([]),
  }),
  'change.rejected': fc.constant({}),
  'change.scheduled': fc.constant({ at: '2026-01-01T00:00:00.000Z' }),
  'change.preparing': fc
    .record({ collections: names, keys: steps, apply: fc.boolean() })
    .map(({ collections, keys, apply }) => ({
      collections,
      steps: keys.map((key) => ({ key, kind: 'index', collection: 'orders', field: null, summary: key })),
      ...(apply && { apply }),
    })),
  'change.prepared': steps.map((keys) => ({ steps: keys.map((key, index) => ({ key, milliseconds: index })) })),
  'change.applied': fc.constant({}),
  'change.failed': fc.constant({ code: 'DATABASE_REFUSED', document: 'why' }),
  'change.withdrawn': fc.constant({}),
};

const anyEvent = fc
  .record({ type: fc.constantFrom(...TYPES), request: fc.nat(2), by: fc.constantFrom('a', 'b', '__proto__') })
  .chain(({ type, request, by }) => dataOf[type].map((data) => ({ type, request, by, data })));

const anyLog: fc.Arbitrary<Event[]> = fc.array(anyEvent, { maxLength: 80 }).map((all) =>
  all.map(
    ({ type, request, by, data }, index) =>
      ({
        type,
        version: 1,
        collection: null,
        field: null,
        subject: { kind: 'change', id: `7b0b6c6e-0000-4000-8000-00000000000${request}` },
        data,
        position: index + 1,
        batch: `batch ${index + 1}`,
        occurred_at: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
        actor: { id: by, name: 'Ada' },
        reason: null,
      }) as unknown as Event,
  ),
);

const idOf = ({ subject }: Event): string => subject?.id ?? '';

/** The events that the model allows next. */
function listPossibleEvents(log: readonly Event[]): Event[] {
  const at = new Map<string, ModelState>();
  return log.filter((event) => {
    const next = nextOf(at.get(idOf(event)) ?? NONE, event);
    if (next !== undefined) at.set(idOf(event), next);
    return next !== undefined;
  });
}

function expectAllowed(after: ChangeRequest, withdraw: boolean, prepared: boolean): void {
  const allowed = allowedActions(after);
  if (![...HOLDING, 'scheduled'].includes(after.state)) expect(protectedCollections(after)).to.deep.equal([]);
  const people = (after.proposal?.approvals ?? []).map(({ by }) => by.id);
  expect(people, 'somebody approves twice').to.deep.equal([...new Set(people)]);
  expect(allowed.includes('withdraw')).to.equal(withdraw);
  const talk = after.proposal === null ? [] : ['comment'];
  if (after.state === 'withdrawn') expect(allowed).to.deep.equal(talk);
  if (after.state === 'applied') expect(allowed).to.deep.equal([...talk, 'revert']);
  if (after.proposal === null) expect([[], ['withdraw'], ['revert']]).to.deep.include(allowed);
  expect(after.schedule !== null, 'a time belongs to what is scheduled').to.equal(after.state === 'scheduled');
  if (after.state === 'scheduled') expectScheduled(after, prepared);
}

function expectScheduled(after: ChangeRequest, prepared: boolean): void {
  expect(after.applicant, 'somebody wants it').to.not.equal(null);
  expect(protectedCollections(after)).to.deep.equal(prepared ? after.preparation?.collections : []);
  expect(isAtRest(after)).to.equal(!prepared);
  expect(allowedActions(after)).to.include.members(['apply', 'update', 'rebase', 'withdraw']);
}

describe('the fold of change requests for any events', () => {
  it('accepts valid events, rejects others, and a rejected one changes nothing', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const requests = new Map<string, ChangeRequest>();
        const model = new Map<string, ModelState>();
        for (const event of log) {
          const [id, before] = [idOf(event), requests.get(idOf(event))];
          const kept = structuredClone(before);
          const next = nextOf(model.get(id) ?? NONE, event);
          if (before !== undefined) expect(isAllowedAfter(before, event.type)).to.equal(next !== undefined);
          if (next === undefined) expect(() => evolveChange(before, event)).to.throw(UnreadableEventError);
          else {
            const after = evolveChange(before, event);
            expect(after.state, `${before?.state} ${event.type}`).to.equal(next.state);
            expect(CHANGE_STATES).to.include(after.state);
            expect([after.id, after.position, after.changed_at]).to.deep.equal([id, event.position, event.occurred_at]);
            expect(after.proposal?.plan).to.equal(next.plan);
            const withdraw = nextOf(next, { ...event, type: 'change.withdrawn' } as Event) !== undefined;
            expectAllowed(after, withdraw, next.prepared);
            requests.set(id, after);
            model.set(id, next);
          }
          expect(before).to.deep.equal(kept);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is the same in any pieces, from any stored checkpoint', () => {
    fc.assert(
      fc.property(anyLog, fc.array(fc.nat(60), { maxLength: 5 }), (all, cuts) => {
        const log = listPossibleEvents(all);
        const full = foldChanges(log);
        expect(foldChanges(log)).to.deep.equal(full);
        let pieces = new Map<string, ChangeRequest>();
        const places = [0, ...cuts.map((cut) => Math.min(cut, log.length)), log.length].sort((a, b) => a - b);
        for (const [index, from] of places.entries()) {
          const stored = JSON.parse(JSON.stringify([...pieces])) as [string, ChangeRequest][];
          pieces = foldChanges(log.slice(from, places[index + 1] ?? from), new Map(stored));
        }
        expect(pieces).to.deep.equal(full);
      }),
      { numRuns: 300 },
    );
  });

  it('folds the events of each request separately', () => {
    fc.assert(
      fc.property(anyLog, (all) => {
        const log = listPossibleEvents(all);
        const full = foldChanges(log);
        for (const id of new Set(log.map(idOf)))
          expect(foldChanges(log.filter((event) => idOf(event) === id)).get(id)).to.deep.equal(full.get(id));
      }),
      { numRuns: 100 },
    );
  });
});
