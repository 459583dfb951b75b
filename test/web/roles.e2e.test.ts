/** The app offers a role exactly the actions that the service permits. */
import { expect } from 'chai';
import { ROLES } from '../../src/features/accounts/caller.js';
import { type Capability, MAY, hasAbility } from '../../src/web/service/types.js';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';
import { type Person, diffOf, newPerson, noted, open } from '../features/change-requests/people.js';

type Request = [method: string, path: string, body?: unknown];

describe('what the admin app offers to a role', () => {
  const { client: admin } = withService();
  const people = {} as Record<(typeof ROLES)[number], Person>;
  let requests: Record<Capability, Request[]>;

  before(async () => {
    expect((await admin('/collections', json({ collection: 'pages', schema: {} }))).status).to.equal(200);
    for (const role of ROLES) people[role] = await newPerson(admin, `one-${role}`, role);
    const diff = await diffOf(admin, noted('pages', 'roles'));
    const { id } = await open(admin, { title: 'Roles', diff });
    const none = '00000000-0000-4000-8000-000000000000';
    // If the role is sufficient, an invalid body or name prevents any effect.
    requests = {
      propose: [
        ['POST', '/schema/apply?explain', {}],
        ['POST', '/schema/diff?mode=merge', {}],
        ['POST', '/schema/merge', {}],
        ['GET', '/schema/snapshot'],
        ['POST', '/changes', {}],
        ['POST', `/changes/${id}/comment`, {}],
        ['PATCH', `/changes/${none}`, {}],
        ['POST', `/changes/${none}/rebase`, {}],
        ['POST', `/changes/${none}/revert`, {}],
        ['POST', `/changes/${none}/withdraw`],
      ],
      readRequests: [
        ['GET', '/changes'],
        ['GET', `/changes/${id}`],
        ['GET', '/history/diff?to=1'],
        ['GET', '/history/snapshot?at=1'],
      ],
      carryOut: [
        ['POST', '/schema/apply', {}],
        ['POST', '/schema/apply?dry_run', {}],
        ['POST', '/collections', {}],
        ['PATCH', '/collections/pages', { nothing: 1 }],
        ['DELETE', '/collections/none'],
        ['POST', '/fields/pages', {}],
        ['POST', '/relations', {}],
        ...['approve', 'reject', 'prepare', 'apply'].map((act): Request => [
          'POST',
          `/changes/${none}/${act}`,
          act === 'prepare' ? undefined : {},
        ]),
      ],
      readHistory: [
        ['GET', '/history/batches'],
        ['GET', '/history/changes'],
        ['GET', '/history/events'],
        ['GET', '/history/schema'],
        ['GET', '/history/collections/pages'],
        ['GET', '/history/verify'],
        ['GET', '/history/export'],
      ],
      readOperations: [
        ['GET', '/collections/pages/table'],
        ['GET', '/schema/drift'],
        ['GET', '/trash'],
        ['GET', '/policy'],
        ['GET', '/auth/trust'],
        ['GET', '/projections'],
        ['GET', '/projections/verify'],
        ['GET', '/server/doctor'],
        ['GET', '/metrics'],
      ],
      administer: [
        ['GET', '/users'],
        ['POST', '/users', {}],
        ['GET', '/sessions'],
        ['PUT', '/policy', { nothing: 1 }],
        ['PUT', '/auth/trust', { nothing: 1 }],
        ['POST', '/schema/adopt', {}],
        ['POST', '/schema/drift/accept', {}],
        ['POST', '/projections/none/rebuild'],
        ['POST', '/trash/999999/restore', {}],
        ['DELETE', '/trash/999999'],
      ],
    };
  });

  for (const role of ROLES)
    it(`equals what the service allows for the role ${role}, and nothing else`, async () => {
      for (const ability of Object.keys(MAY) as Capability[])
        for (const [method, path, body] of requests[ability]) {
          const { status, text } = await people[role].send(path, body === undefined ? { method } : json(body, method));
          const what = `${role}, ${ability}: ${method} ${path} ${text.slice(0, 200)}`;
          expect(status === 403, what).to.equal(!hasAbility(role, ability));
          expect(status, what).to.be.below(500);
        }
    });
});
