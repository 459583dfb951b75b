import { expect } from 'chai';
import { applicantsCause, changeEvent, createServiceCause } from '../../../src/features/change-requests/planning.js';
import type { ChangeRequest } from '../../../src/schema/change-requests/model.js';

const NOBODY = { request_id: null, ip: null, user_agent: null };
const SERVICE = { id: 'service', name: 'Data Platform Service' };

describe('events of change requests', () => {
  it('concern the request and no collection', () => {
    expect(changeEvent('change.withdrawn', 'c0', {})).to.deep.equal({
      type: 'change.withdrawn',
      version: 1,
      collection: null,
      field: null,
      subject: { kind: 'change', id: 'c0' },
      data: {},
    });
  });

  it('are attributed to the service if no user caused them', () => {
    expect(createServiceCause('tidy')).to.deep.equal({ actor: SERVICE, command: 'tidy', reason: null, ...NOBODY });
  });

  it('are attributed to the person who applies the request, otherwise to its author, with its reason', () => {
    const [author, applicant] = ['ann', 'bob'].map((name) => ({ id: name, name }));
    const request = { author, applicant, operation: 'apply-diff', reason: 'because' } as unknown as ChangeRequest;
    const cause = { command: 'apply-diff', reason: 'because', ...NOBODY };
    expect(applicantsCause(request)).to.deep.equal({ actor: applicant, ...cause });
    expect(applicantsCause({ ...request, applicant: null })).to.deep.equal({ actor: author, ...cause });
  });
});
