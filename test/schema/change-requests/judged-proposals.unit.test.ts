import { expect } from 'chai';
import type { ApprovedView } from '../../../src/schema/model/events.js';
import { evolveChange } from '../../../src/schema/change-requests/fold.js';
import type { ChangeEventOf, ChangeRequest, StoredChangeEvent } from '../../../src/schema/change-requests/model.js';

type Type = StoredChangeEvent['type'];

const ID = '7b0b6c6e-0000-4000-8000-000000000001';
const person = (id: string) => ({ id, name: id.toUpperCase() });
const at = (position: number): string => `2026-01-01T00:00:${String(position).padStart(2, '0')}.000Z`;

/** Events of one request at consecutive positions. */
class Story {
  #request: ChangeRequest | undefined;
  #position = 0;

  get request(): ChangeRequest {
    if (this.#request === undefined) throw new Error('it was not opened');
    return this.#request;
  }

  addEvent<T extends Type>(type: T, data: ChangeEventOf<T>['data'], by = 'ada'): this {
    this.#position += 1;
    const event = {
      type,
      version: 1,
      collection: null,
      field: null,
      subject: { kind: 'change', id: ID },
      data,
      position: this.#position,
      batch: `batch ${this.#position}`,
      occurred_at: at(this.#position),
      actor: person(by),
      reason: null,
    };
    this.#request = evolveChange(this.#request, event as unknown as StoredChangeEvent);
    return this;
  }

  changes<T extends Type>(type: T, data: ChangeEventOf<T>['data'], by = 'ada'): Partial<ChangeRequest> {
    const before = this.#request as unknown as Record<string, unknown>;
    this.addEvent(type, data, by);
    const { position, changed_at, ...after } = this.request;
    expect([position, changed_at]).to.deep.equal([this.#position, at(this.#position)]);
    return Object.fromEntries(
      Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
    );
  }
}

const openedStory = (): Story =>
  new Story().addEvent('change.opened', {
    operation: 'update-fields',
    document: 'wanted',
    online: true,
    collections: ['orders'],
    proposal: { title: 'Titles', plan: 'plan', base: 7 },
  });
const PROPOSAL = {
  title: 'Titles',
  plan: 'plan',
  base: 7,
  approvals: [],
  rejection: null,
  comments: [],
  described_at: null,
};
const VIEW: ApprovedView = {
  online: true,
  credential: 'password',
  findings: { LOSES_DATA: ['orders'] },
  kept: ['orders'],
};
const STEP = { key: 'validate', kind: 'validate', collection: 'orders', field: 'title', summary: 'v' };
const PREPARATION = { collections: ['orders'], steps: [STEP] };
const messagesOf = (by: string, position: number, comment: string | null) => ({
  by: person(by),
  at: at(position),
  position,
  comment,
});

describe('the state of a proposal', () => {
  it('is open until people approve or reject it', () => {
    const { request } = openedStory();
    expect(request).to.deep.include({ state: 'open', proposal: PROPOSAL, applicant: null, author: person('ada') });
  });

  it('collects comments in order in any state', () => {
    const story = openedStory();
    const [one, two] = [messagesOf('bob', 2, 'first'), messagesOf('eve', 3, 'second')];
    expect(story.changes('change.commented', { comment: 'first' }, 'bob')).to.deep.equal({
      proposal: { ...PROPOSAL, comments: [one] },
    });
    expect(story.changes('change.commented', { comment: 'second' }, 'eve')).to.deep.equal({
      proposal: { ...PROPOSAL, comments: [one, two] },
    });
  });

  it('keeps the newest approval of each person in order', () => {
    const story = openedStory();
    const approve = (by: string, complete: boolean, comment?: string) =>
      story.changes(
        'change.approved',
        { ...VIEW, plan: 'plan', complete, ...(comment !== undefined && { comment }) },
        by,
      );
    const approval = (by: string, position: number, comment: string | null = null) => ({
      ...messagesOf(by, position, comment),
      ...VIEW,
      plan: 'plan',
    });
    expect(approve('bob', false)).to.deep.equal({ proposal: { ...PROPOSAL, approvals: [approval('bob', 2)] } });
    expect(approve('eve', true, 'good')).to.deep.equal({
      state: 'approved',
      proposal: { ...PROPOSAL, approvals: [approval('bob', 2), approval('eve', 3, 'good')] },
    });
    expect(approve('bob', true, 'still')).to.deep.equal({
      proposal: { ...PROPOSAL, approvals: [approval('eve', 3, 'good'), approval('bob', 4, 'still')] },
    });
  });

  it('loses its approvals and the request to apply when rejected', () => {
    const story = openedStory()
      .addEvent('change.approved', { ...VIEW, plan: 'plan', complete: true }, 'bob')
      .addEvent('change.scheduled', { at: at(59) }, 'bob');
    expect(story.changes('change.rejected', {}, 'eve')).to.deep.equal({
      state: 'rejected',
      proposal: { ...PROPOSAL, rejection: messagesOf('eve', 4, null) },
      applicant: null,
      schedule: null,
    });
    expect(story.changes('change.updated', {})).to.deep.equal({ state: 'open', proposal: PROPOSAL });
  });

  it('stays approved after an update with the same plan, and reopens with another', () => {
    const approved = (): Story =>
      openedStory().addEvent('change.approved', { ...VIEW, plan: 'plan', complete: true }, 'bob');
    const titled = approved().addEvent('change.updated', { title: 'Better titles' }).request;
    expect(titled.state).to.equal('approved');
    expect(titled.proposal).to.deep.include({ title: 'Better titles', plan: 'plan', base: 7 });
    expect(approved().addEvent('change.updated', { plan: 'plan', base: 9 }).request).to.have.property(
      'state',
      'approved',
    );
    const other = approved().addEvent('change.updated', {
      plan: 'other',
      base: 9,
      document: 'd',
      collections: [],
    }).request;
    expect(other).to.deep.include({ state: 'open', document: 'd', collections: [] });
    expect(other.proposal).to.deep.include({ title: 'Titles', plan: 'other', base: 9 });
    expect(openedStory().addEvent('change.updated', { title: 'x' }).request.state).to.equal('open');
  });

  it('reopens when the preparation changes', () => {
    const approved = (): Story =>
      openedStory().addEvent('change.approved', { ...VIEW, plan: 'plan', complete: true }, 'bob');
    expect(approved().addEvent('change.updated', { plan: 'plan', online: false }).request.state).equal('open');
    expect(approved().addEvent('change.updated', { plan: 'plan', online: true }).request.state).equal('approved');
  });

  it('counts everyone who changed the plan as an author, but not someone who only renamed it', () => {
    const authors = (story: Story) => story.request.authors.map(({ id }) => id);
    expect(authors(openedStory())).deep.equal(['ada']);
    expect(authors(openedStory().addEvent('change.updated', { title: 'Others' }, 'bob'))).deep.equal(['ada']);
    expect(authors(openedStory().addEvent('change.updated', { plan: 'plan', document: 'd' }, 'bob'))).deep.equal([
      'ada',
    ]);
    const shaped = openedStory()
      .addEvent('change.updated', { plan: 'other' }, 'bob')
      .addEvent('change.updated', { plan: 'third' }, 'ada')
      .addEvent('change.updated', { plan: 'plan' }, 'bob');
    expect(authors(shaped)).deep.equal(['ada', 'bob']);
  });

  it('records the last change to its title or reason', () => {
    const described = (story: Story) => story.request.proposal?.described_at;
    expect(described(openedStory().addEvent('change.updated', { plan: 'other' }))).equal(null);
    expect(described(openedStory().addEvent('change.updated', { title: 'Titles' }))).equal(null);
    expect(described(openedStory().addEvent('change.updated', { title: 'Others' }))).equal(at(2));
    expect(described(openedStory().addEvent('change.updated', { reason: 'why' }))).equal(at(2));
  });

  it('knows whether it was approved before or after it was scheduled', () => {
    const story = openedStory();
    expect(story.changes('change.scheduled', { at: at(59) }, 'bob')).to.deep.equal({
      state: 'scheduled',
      applicant: person('bob'),
      schedule: { at: at(59), position: 2, approved: false },
    });
    story.addEvent('change.approved', { ...VIEW, plan: 'plan', complete: false }, 'eve');
    expect(story.request.schedule).to.include({ approved: false });
    story.addEvent('change.approved', { ...VIEW, plan: 'plan', complete: true }, 'eve');
    expect(story.request).to.have.nested.property('schedule.approved', true);
    expect(story.request.state).to.equal('scheduled');
    story.addEvent('change.approved', { ...VIEW, plan: 'plan', complete: false }, 'bob');
    expect(story.request).to.have.nested.property('schedule.approved', true);
    expect(story.changes('change.scheduled', { at: at(58) }, 'eve')).to.deep.equal({
      applicant: person('eve'),
      schedule: { at: at(58), position: 6, approved: true },
    });
    expect(story.changes('change.updated', { plan: 'plan' })).to.deep.equal({
      state: 'approved',
      applicant: null,
      schedule: null,
    });
  });

  it('keeps its preparation when scheduled, without failures', () => {
    const story = openedStory().addEvent('change.approved', { ...VIEW, plan: 'plan', complete: true }, 'bob');
    expect(story.changes('change.preparing', { ...PREPARATION, apply: true }, 'eve')).to.deep.equal({
      state: 'preparing',
      preparation: PREPARATION,
      applicant: person('eve'),
    });
    const failed = { code: 'DATABASE_REFUSED', document: 'why' };
    expect(story.changes('change.failed', failed)).to.deep.equal({ state: 'failed', failure: failed, applicant: null });
    expect(story.changes('change.scheduled', { at: at(59) }, 'bob')).to.deep.equal({
      state: 'scheduled',
      applicant: person('bob'),
      schedule: { at: at(59), position: 5, approved: false },
      preparation: null,
      failure: null,
    });
    const prepared = openedStory()
      .addEvent('change.preparing', { ...PREPARATION, apply: false }, 'bob')
      .addEvent('change.prepared', { steps: [] });
    expect(prepared.request.applicant).to.equal(null);
    prepared.addEvent('change.scheduled', { at: at(59) }, 'bob');
    expect(prepared.request).to.deep.include({ state: 'scheduled', preparation: PREPARATION });
    prepared.addEvent('change.scheduled', { at: at(58) }, 'bob');
    expect(prepared.request).to.deep.include({ state: 'scheduled', preparation: PREPARATION });
  });

  it('is not queried for other requests', () => {
    const change = new Story().addEvent('change.opened', {
      operation: 'update-fields',
      document: 'wanted',
      online: true,
      collections: ['orders'],
    });
    expect(change.request).to.deep.include({ state: 'queued', proposal: null, applicant: person('ada') });
    expect(() => change.addEvent('change.approved', { ...VIEW, plan: 'plan', complete: true })).to.throw(
      'event 2 cannot be read: the change request is queued (change.approved 7b0b6c6e-0000-4000-8000-000000000001)',
    );
  });
});
