import { hash } from 'node:crypto';
import { expect } from 'chai';
import { eventHash } from '../support/event-hash.js';
import { sha256 } from '../../src/kernel/sha256.js';
import { createHashChain, createChecker, commitmentTo, personalText } from '../../src/log/event-hash.js';
import { GENESIS_HASH } from '../../src/log/head.js';
import type { EventRecord } from '../../src/log/read.js';
import { canonicalJson } from '../../src/kernel/canonical.js';

const SALT = '00112233445566778899aabbccddeeff';

const EVENT: Omit<EventRecord, 'hash'> = {
  position: 1,
  id: '00000000-0000-4000-8000-000000000001',
  batch: '00000000-0000-4000-8000-000000000002',
  type: 'collection.deleted',
  version: 1,
  collection: 'a "b"',
  field: null,
  data: { b: 1, a: { d: [1, 2], c: 'ü' } },
  actor: { id: '1', name: 'Ada' },
  command: 'delete-collection',
  reason: null,
  request_id: null,
  ip: null,
  user_agent: null,
  salt: SALT,
  commitment: '0'.repeat(64),
  occurred_at: '2026-01-01T00:00:00.000Z',
  previous_hash: GENESIS_HASH,
};

const PERSONAL_MEMBERS = new Set(['ip', 'reason', 'user_agent', 'salt', 'previous_hash']);

/** Without the personal data, which the commitment covers. */
const hashed = (event: typeof EVENT): string => {
  const members = Object.entries(event).filter(([name]) => !PERSONAL_MEMBERS.has(name));
  return hash('sha256', event.previous_hash + canonicalJson({ ...Object.fromEntries(members), actor: event.actor.id }));
};

describe('chainWith', () => {
  it('reports a position that occurs twice, and not the next one as missing', () => {
    const chain = createHashChain(sha256);
    const personal = commitmentTo(personalText(EVENT), SALT, sha256);
    const event = { ...EVENT, commitment: personal };
    const record = { ...event, hash: eventHash(event) };
    expect(chain.add(record)).to.equal(null);
    expect(chain.add(record)).to.equal('the log contains this position twice');
    expect(chain.add({ ...record, position: 3 })).to.equal('position 2 is missing');
  });
});

describe('eventHash', () => {
  it('is stable across releases, because stored logs depend on it', () => {
    expect(eventHash(EVENT)).to.equal('f8b3601eb2ca7507f7c624643e22374974c71f809d850541b633dee5009ce454');
    const personal = '{"ip":"::1","name":"Ada","reason":"a \\"b\\"","user_agent":null}';
    expect(personalText({ ...EVENT, ip: '::1', reason: 'a "b"' })).to.equal(personal);
    expect(commitmentTo(personal, SALT, sha256)).to.equal(hash('sha256', SALT + personal));
  });

  it('is the hash of the canonical JSON, and optional members may be absent', () => {
    expect(eventHash({ ...EVENT, context: undefined, subject: undefined })).to.equal(eventHash(EVENT));
    expect(eventHash(EVENT)).to.equal(hashed(EVENT));
    const all = { ...EVENT, collection: null, context: { b: 1, a: 'x' }, subject: { kind: 'log', id: '7' } };
    expect(eventHash(all)).to.equal(hashed(all));
  });

  it('does not depend on the order of members', () => {
    const data = { a: { c: 'ü', d: [1, 2] }, b: 1 };
    const actor = { name: 'Ada', id: '1' };
    expect(eventHash({ ...EVENT, data, actor })).to.equal(eventHash(EVENT));
  });

  const OTHERS: Partial<EventRecord>[] = [
    { position: 2 },
    { id: '00000000-0000-4000-8000-000000000003' },
    { batch: '00000000-0000-4000-8000-000000000003' },
    { type: 'field.deleted' },
    { version: 2 },
    { collection: 'a' },
    { field: 'f' },
    { data: {} },
    { actor: { id: '2', name: 'Ada' } },
    { command: 'other' },
    { request_id: 'r' },
    { commitment: '1'.repeat(64) },
    { occurred_at: '2026-01-01T00:00:00.001Z' },
    { previous_hash: '1'.repeat(64) },
  ];
  const PERSONAL: Partial<EventRecord>[] = [
    { actor: { id: '1', name: 'Eve' } },
    { actor: { id: '1', name: null } },
    { reason: '' },
    { ip: '::1' },
    { user_agent: 'curl' },
    { salt: '0'.repeat(32) },
  ];

  it('covers every member except the personal data', () => {
    const more: Partial<EventRecord>[] = [
      { collection: null },
      { context: {} },
      { context: { traceparent: 'a' } },
      { subject: { kind: 'log', id: '1' } },
      { subject: { kind: 'log', id: '2' } },
    ];
    const hashes = [...OTHERS, ...more].map((other) => eventHash({ ...EVENT, ...other }));
    expect(new Set([...hashes, eventHash(EVENT)]).size).to.equal(OTHERS.length + more.length + 1);
    for (const other of PERSONAL) expect(eventHash({ ...EVENT, ...other })).to.equal(eventHash(EVENT));
    const tested = [...OTHERS, ...PERSONAL].flatMap((each) => Object.keys(each));
    expect(new Set(tested)).to.deep.equal(new Set(Object.keys(EVENT)));
  });

  it('is checked together with the commitment, which covers the personal data and the salt', () => {
    const whyChanged = createChecker(sha256);
    const commitment = commitmentTo(personalText(EVENT), SALT, sha256);
    const placed = { ...EVENT, commitment };
    const event = { ...placed, hash: eventHash(placed) };
    expect(whyChanged(event)).to.equal(null);
    for (const other of PERSONAL)
      expect(whyChanged({ ...event, ...other }), JSON.stringify(other)).to.match(/does not match its commitment$/);
    const erased = { ...event, actor: { id: '1', name: null }, salt: null };
    expect(whyChanged(erased)).to.equal(null);
    for (const other of PERSONAL.filter(({ salt, actor }) => salt === undefined && actor?.name !== null))
      expect(whyChanged({ ...erased, ...other }), JSON.stringify(other)).to.match(/does not match its commitment$/);
    for (const other of OTHERS)
      expect(whyChanged({ ...event, ...other }), JSON.stringify(other)).to.equal('its hash does not match its content');
  });
});

describe('the chain with erased events', () => {
  const ADA = 'a1';
  const EVE = 'e1';

  /** Events of these actors, without personal data if their index is in `erased`. */
  const chainOf = (actors: readonly (string | [string, unknown])[], erased: readonly number[]) => {
    const chain = createHashChain(sha256);
    let previous_hash = GENESIS_HASH;
    const reasons = actors.map((each, index) => {
      const [id, data, subject] =
        typeof each === 'string'
          ? [each, {}, undefined]
          : ['admin', { positions: each[1] }, { kind: 'erasure', id: each[0] }];
      const actor = { id, name: 'Ada' };
      const commitment = commitmentTo(personalText({ ...EVENT, actor }), SALT, sha256);
      const isErased = erased.includes(index + 1);
      const placed = {
        ...EVENT,
        type: subject === undefined ? 'collection.deleted' : 'log.erased',
        position: index + 1,
        data,
        subject,
        commitment,
        previous_hash,
        actor: { id, name: isErased ? null : 'Ada' },
        salt: isErased ? null : SALT,
      };
      const event = { ...placed, hash: eventHash(placed) };
      previous_hash = event.hash;
      return chain.add(event);
    });
    return { fault: reasons.find((reason) => reason !== null) ?? chain.end(), erased: chain.erased() };
  };
  const unnamed = (position: number) => ({
    position,
    reason: 'its personal data is missing, and no log.erased event names it',
  });

  it('is intact if a later event names all of them', () => {
    expect(chainOf([ADA, EVE, ADA, ADA], [])).to.deep.equal({ fault: null, erased: 0 });
    const named: [string, [number, number][]] = [
      ADA,
      [
        [1, 1],
        [3, 4],
      ],
    ];
    expect(chainOf([ADA, EVE, ADA, ADA, named], [1, 3, 4])).to.deep.equal({ fault: null, erased: 3 });
    // In an export that was made before, the values are still present.
    expect(chainOf([ADA, EVE, ADA, ADA, named], [])).to.deep.equal({ fault: null, erased: 0 });
    const [first, second]: [string, [number, number][]][] = [
      [ADA, [[3, 4]]],
      [
        ADA,
        [
          [1, 1],
          [5, 5],
        ],
      ],
    ];
    expect(chainOf([ADA, EVE, ADA, ADA, ADA, first ?? ADA, second ?? ADA], [1, 3, 4, 5]).fault).to.equal(null);
  });

  it('is broken at the first event that is not named, or only for another actor', () => {
    expect(chainOf([ADA, EVE, ADA], [3]).fault).to.deep.equal(unnamed(3));
    expect(
      chainOf(
        [
          ADA,
          EVE,
          ADA,
          ADA,
          [
            ADA,
            [
              [1, 1],
              [4, 4],
            ],
          ],
        ],
        [1, 3, 4],
      ).fault,
    ).to.deep.equal(unnamed(3));
    expect(chainOf([ADA, EVE, ADA, [ADA, [[1, 3]]]], [1, 2, 3]).fault).to.deep.equal(unnamed(2));
    expect(chainOf([ADA, EVE, [EVE, [[1, 2]]]], [1, 2]).fault).to.deep.equal(unnamed(1));
  });

  it('is broken at an event that names itself, later positions or positions that do not exist', () => {
    const impossible = 'it names positions that are not before it';
    for (const range of [
      [2, 2],
      [1, 3],
      [0, 1],
      [-1, 1],
      [0.5, 1],
      [2, 1],
    ] as [number, number][])
      expect(chainOf([ADA, [ADA, [range]]], []).fault, String(range)).to.equal(impossible);
    expect(chainOf([ADA, [ADA, 'all']], []).fault).to.equal(impossible);
  });
});
