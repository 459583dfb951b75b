/** The fold of change requests under any events in any order, held against a model that knows only which may follow which. */
import { expect } from 'chai';
import fc from 'fast-check';
import { UnreadableEventError } from '../../../src/schema/fold/upcasting.js';
import {
  type StoredChangeEvent,
  allowedIn,
  evolveChange,
  foldChanges,
  mayFollow,
} from '../../../src/schema/change-requests/fold.js';
import {
  CHANGE_STATES,
  type ChangeEvent,
  type ChangeRequest,
  heldBy,
  isEnded,
} from '../../../src/schema/change-requests/model.js';
import type { StoredEvent } from '../../../src/schema/model/events.js';

type Type = ChangeEvent['type'];
type Event = StoredChangeEvent & StoredEvent;

const TYPES: readonly Type[] = [
  'change.opened',
  'change.preparing',
  'change.prepared',
  'change.applied',
  'change.failed',
  'change.withdrawn',
];

/** `a`: opened and not over, `p`: preparing among them, `r`: prepared; `x`: over. In this test's own words. */
const NEXT: Readonly<Record<string, Partial<Record<Type, string>>>> = {
  none: { 'change.opened': 'a' },
  a: { 'change.preparing': 'p', 'change.applied': 'x', 'change.failed': 'x', 'change.withdrawn': 'x' },
  p: {
    'change.preparing': 'p',
    'change.prepared': 'r',
    'change.applied': 'x',
    'change.failed': 'x',
    'change.withdrawn': 'x',
  },
  r: { 'change.preparing': 'p', 'change.applied': 'x', 'change.failed': 'x', 'change.withdrawn': 'x' },
  x: {},
};

const names = fc.uniqueArray(fc.constantFrom('orders', 'customers', 'Ünïcode', '__proto__', 'constructor'), {
  minLength: 1,
});
const steps = fc.uniqueArray(fc.constantFrom('one', 'two', 'toString', '__proto__'), { minLength: 1 });

const dataOf: { readonly [T in Type]: fc.Arbitrary<Extract<ChangeEvent, { type: T }>['data']> } = {
  'change.opened': names.map((collections) => ({
    operation: 'apply-diff',
    document: 'wanted',
    online: true,
    collections,
  })),
  'change.preparing': fc.record({ collections: names, keys: steps }).map(({ collections, keys }) => ({
    collections,
    steps: keys.map((key) => ({ key, kind: 'index', collection: 'orders', field: null, summary: key })),
  })),
  'change.prepared': steps.map((keys) => ({ steps: keys.map((key, index) => ({ key, milliseconds: index })) })),
  'change.applied': fc.constant({}),
  'change.failed': fc.constant({ code: 'DATABASE_REFUSED', document: 'why' }),
  'change.withdrawn': fc.constant({}),
};

const anyEvent = fc
  .record({ type: fc.constantFrom(...TYPES), request: fc.nat(2) })
  .chain(({ type, request }) => dataOf[type].map((data) => ({ type, request, data })));

const anyLog: fc.Arbitrary<Event[]> = fc.array(anyEvent, { maxLength: 60 }).map((all) =>
  all.map(
    ({ type, request, data }, index) =>
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
        actor: { id: 'a', name: 'Ada' },
        reason: null,
      }) as unknown as Event,
  ),
);

const idOf = ({ subject }: Event): string => subject?.id ?? '';

/** Those of a log that may come, in the model's eyes. */
function possible(log: readonly Event[]): Event[] {
  const at = new Map<string, string>();
  return log.filter((event) => {
    const next = NEXT[at.get(idOf(event)) ?? 'none']?.[event.type];
    if (next !== undefined) at.set(idOf(event), next);
    return next !== undefined;
  });
}

describe('the fold of change requests, of any events', () => {
  it('takes those that may come and refuses all others, and a refused one changes nothing', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const requests = new Map<string, ChangeRequest>();
        const model = new Map<string, string>();
        for (const event of log) {
          const [id, before] = [idOf(event), requests.get(idOf(event))];
          const kept = structuredClone(before);
          const next = NEXT[model.get(id) ?? 'none']?.[event.type];
          if (before !== undefined) expect(mayFollow(before.state, event.type)).to.equal(next !== undefined);
          if (next === undefined) expect(() => evolveChange(before, event)).to.throw(UnreadableEventError);
          else {
            const after = evolveChange(before, event);
            expect(CHANGE_STATES).to.include(after.state);
            expect([after.id, after.position, after.changed_at]).to.deep.equal([id, event.position, event.occurred_at]);
            expect(isEnded(after)).to.equal(next === 'x');
            if (isEnded(after)) expect([heldBy(after), allowedIn(after.state)]).to.deep.equal([[], []]);
            else expect(allowedIn(after.state)).to.deep.equal(['withdraw']);
            requests.set(id, after);
            model.set(id, next);
          }
          expect(before).to.deep.equal(kept);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is the same in any pieces, from any checkpoint that was stored as JSON, and again', () => {
    fc.assert(
      fc.property(anyLog, fc.array(fc.nat(60), { maxLength: 5 }), (all, cuts) => {
        const log = possible(all);
        const whole = foldChanges(log);
        expect(foldChanges(log)).to.deep.equal(whole);
        let pieces = new Map<string, ChangeRequest>();
        const places = [0, ...cuts.map((cut) => Math.min(cut, log.length)), log.length].sort((a, b) => a - b);
        for (const [index, from] of places.entries()) {
          const stored = JSON.parse(JSON.stringify([...pieces])) as [string, ChangeRequest][];
          pieces = foldChanges(log.slice(from, places[index + 1] ?? from), new Map(stored));
        }
        expect(pieces).to.deep.equal(whole);
      }),
      { numRuns: 300 },
    );
  });

  it('of one request knows nothing of the others', () => {
    fc.assert(
      fc.property(anyLog, (all) => {
        const log = possible(all);
        const whole = foldChanges(log);
        for (const id of new Set(log.map(idOf)))
          expect(foldChanges(log.filter((event) => idOf(event) === id)).get(id)).to.deep.equal(whole.get(id));
      }),
      { numRuns: 100 },
    );
  });
});
