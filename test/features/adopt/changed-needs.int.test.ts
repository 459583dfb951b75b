import { expect } from 'chai';
import type { Outcome } from '../../../src/pipeline/index.js';
import { refusedWith } from '../../support/instance.js';
import { catalogText } from '../../support/catalog-text.js';
import {
  type AdoptFixture,
  adopt,
  expectReplayed,
  expectVerified,
  promote,
  startAdoptFixture,
  tryPromoting,
} from './round-trip.js';

const BASE = {
  type: `CREATE TYPE mood AS ENUM ('a', 'c')`,
  domain: `CREATE DOMAIN price AS numeric(8,2) DEFAULT 1 CONSTRAINT positive CHECK (VALUE > 0)`,
  sequence: 'CREATE SEQUENCE numbers',
};

const tables = (needs: Partial<typeof BASE> = {}): string => `${Object.values({ ...BASE, ...needs }).join(';')};
  CREATE TABLE one (id integer PRIMARY KEY, m mood, p price, n bigint DEFAULT nextval('numbers'));
  CREATE TABLE two (id integer PRIMARY KEY, m mood[])`;

describe('types and sequences of adopted tables', () => {
  const fixtures: AdoptFixture[] = [];
  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) await fixture.stop();
  });

  async function start(sql?: string): Promise<AdoptFixture> {
    const fixture = await startAdoptFixture(sql);
    fixtures.push(fixture);
    return fixture;
  }

  /** The result of a changed snapshot on promoted tables. */
  async function promoteChanged(
    changed: Partial<typeof BASE>,
  ): Promise<{ before: AdoptFixture; after: AdoptFixture; target: AdoptFixture }> {
    const [before, after, target] = [await start(tables()), await start(tables(changed)), await start()];
    await adopt(before.instance);
    await adopt(after.instance);
    await promote(before.instance, target.instance, { exact: true });
    return { before, after, target };
  }

  async function rejectionOf({ instance: from }: AdoptFixture, { instance: to }: AdoptFixture): Promise<string> {
    const catalog = await catalogText(to.pool);
    const outcome = await tryPromoting(from, to, { exact: true });
    expect(refusedWith(outcome)).to.equal('ALREADY_EXISTS');
    const { problems } = outcome as Extract<Outcome, { kind: 'refused' }>;
    expect(await catalogText(to.pool)).to.deep.equal(catalog);
    return problems.map(({ message }) => message).join('; ');
  }

  const changes: [what: string, changed: Partial<typeof BASE>][] = [
    ['a label at the end', { type: `CREATE TYPE mood AS ENUM ('a', 'c', 'd''s')` }],
    ['labels everywhere', { type: `CREATE TYPE mood AS ENUM ('0', '1', 'a', 'b', 'b2', 'c', 'd', 'e')` }],
    [
      'options of a sequence',
      { sequence: 'CREATE SEQUENCE numbers AS integer INCREMENT -2 MINVALUE -50 MAXVALUE 100 CYCLE' },
    ],
    [
      'the rules of a domain',
      {
        domain: `CREATE DOMAIN price AS numeric(8,2) NOT NULL CONSTRAINT positive CHECK (VALUE >= 0)
          CONSTRAINT small CHECK (VALUE < 9)`,
      },
    ],
    ['the last rule of a domain is dropped', { domain: 'CREATE DOMAIN price AS numeric(8,2)' }],
  ];
  for (const [what, changed] of changes) {
    it(`change if PostgreSQL supports the change: ${what}`, async () => {
      const { before, after, target } = await promoteChanged(changed);
      await promote(after.instance, target.instance, { exact: true });
      await expectVerified(target.instance);
      expect(await catalogText(target.instance.pool)).to.deep.equal(await catalogText(after.instance.pool));
      await expectReplayed(target.instance);
      if (changed.type === undefined) await promote(before.instance, target.instance, { exact: true });
      else expect(await rejectionOf(before, target)).to.include('it already exists, as {"kind": "enum", "labels": ["');
      await expectVerified(target.instance);
    });
  }

  const impossible: [what: string, changed: Partial<typeof BASE>, byHand: string, fault: string][] = [
    [
      'a removed label',
      { type: `CREATE TYPE mood AS ENUM ('a')` },
      `ALTER TYPE mood RENAME TO old; CREATE TYPE mood AS ENUM ('a'); ALTER TABLE one ALTER m TYPE mood USING m::text::mood;
       ALTER TABLE two ALTER m TYPE mood[] USING m::text[]::mood[]; DROP TYPE old`,
      'PostgreSQL failed to ensure that enum mood exists: it already exists, as {"kind": "enum", "labels": ["a", "c"]}',
    ],
    [
      'labels in another order',
      { type: `CREATE TYPE mood AS ENUM ('c', 'a')` },
      `ALTER TYPE mood RENAME VALUE 'a' TO 'x'; ALTER TYPE mood RENAME VALUE 'c' TO 'a'; ALTER TYPE mood RENAME VALUE 'x' TO 'c'`,
      '"labels": ["a", "c"]',
    ],
  ];
  for (const [what, changed, byHand, fault] of impossible) {
    it(`are rejected if PostgreSQL does not support the change, and accepted after a manual change: ${what}`, async () => {
      const { after, target } = await promoteChanged(changed);
      expect(await rejectionOf(after, target)).to.include(fault);
      await expectVerified(target.instance);
      await target.instance.pool.query(byHand);
      await promote(after.instance, target.instance, { exact: true });
      await expectVerified(target.instance);
    });
  }

  const there: [what: string, same: string, other: string][] = [
    ['an enum', BASE.type, `CREATE TYPE mood AS ENUM ('c', 'a')`],
    ['no enum', BASE.type, 'CREATE DOMAIN mood AS text'],
    ['a table instead of an enum', BASE.type, 'CREATE TABLE mood (id integer)'],
    ['a domain', BASE.domain, 'CREATE DOMAIN price AS numeric(8,2) DEFAULT 2 CONSTRAINT positive CHECK (VALUE > 0)'],
    ['a sequence', BASE.sequence, 'CREATE SEQUENCE numbers INCREMENT 2'],
    ['no sequence', BASE.sequence, 'CREATE VIEW numbers AS SELECT 1 AS one'],
  ];
  for (const [what, same, other] of there) {
    it(`are compared when another table uses them: ${what}`, async () => {
      const source = await start(tables());
      await adopt(source.instance);
      const [fine, wrong] = [await start(same), await start(other)];
      await promote(source.instance, fine.instance);
      await expectVerified(fine.instance);
      expect(await catalogText(fine.instance.pool)).to.deep.equal(await catalogText(source.instance.pool));
      expect(await rejectionOf(source, wrong)).to.match(/ensure that \w+ \w+ exists: it already exists, as /);
    });
  }
});
