import { expect } from 'chai';
import { alterDomain, createDomain } from '../../../src/projector/ddl/needs.js';
import { sql } from '../../../src/projector/ddl/sql.js';
import type { Domain } from '../../../src/schema/model/extras.js';

const NAME = sql`"d"`;
const POSITIVE = { name: 'positive', definition: 'CHECK ((VALUE > 0))' };
const SMALL = { name: 'small', definition: 'CHECK ((VALUE < 9))' };

describe('a domain', () => {
  const domain = (more: Partial<Domain> = {}): Domain => ({ type: 'integer', ...more });

  it('is created with all its properties', () => {
    expect(createDomain(NAME, domain())).to.equal('CREATE DOMAIN "d" AS integer');
    expect(createDomain(NAME, domain({ checks: [] }))).to.equal('CREATE DOMAIN "d" AS integer');
    expect(createDomain(NAME, domain({ not_null: true, default: '1', checks: [POSITIVE, SMALL] }))).to.equal(
      'CREATE DOMAIN "d" AS integer DEFAULT (1) NOT NULL' +
        ' CONSTRAINT "positive" CHECK ((VALUE > 0)) CONSTRAINT "small" CHECK ((VALUE < 9))',
    );
  });

  it('adds an unvalidated check in its own statement', () => {
    const checks = [{ ...POSITIVE, definition: `${POSITIVE.definition} NOT VALID` }, SMALL];
    expect(createDomain(NAME, domain({ checks }))).to.equal(
      'CREATE DOMAIN "d" AS integer CONSTRAINT "small" CHECK ((VALUE < 9));' +
        ' ALTER DOMAIN "d" ADD CONSTRAINT "positive" CHECK ((VALUE > 0)) NOT VALID',
    );
  });

  const altered = (old: Partial<Domain>, now: Partial<Domain>): string[] =>
    alterDomain(domain(old), domain(now), NAME).map((each) => each.replace('ALTER DOMAIN "d" ', ''));

  it('stays unchanged if it is equal', () => {
    const all: Partial<Domain> = { not_null: true, default: '1', checks: [POSITIVE] };
    expect(altered(all, all)).to.deep.equal([]);
    expect(altered({ checks: [] }, {})).to.deep.equal([]);
  });

  it('changes its default and nullability', () => {
    expect(altered({}, { default: '1' })).to.deep.equal(['SET DEFAULT (1)']);
    expect(altered({ default: '1' }, { default: '2' })).to.deep.equal(['SET DEFAULT (2)']);
    expect(altered({ default: '1', not_null: true }, { not_null: true })).to.deep.equal(['DROP DEFAULT']);
    expect(altered({}, { not_null: true })).to.deep.equal(['SET NOT NULL']);
    expect(altered({ not_null: true, default: '1' }, { default: '1' })).to.deep.equal(['DROP NOT NULL']);
  });

  it('drops and adds checks, and recreates a changed one', () => {
    expect(altered({ checks: [POSITIVE, SMALL] }, { checks: [SMALL] })).to.deep.equal([
      'DROP CONSTRAINT IF EXISTS "positive"',
    ]);
    expect(altered({ checks: [SMALL] }, { checks: [SMALL, POSITIVE] })).to.deep.equal([
      'DROP CONSTRAINT IF EXISTS "positive"',
      'ADD CONSTRAINT "positive" CHECK ((VALUE > 0))',
    ]);
    const changed = { ...SMALL, definition: 'CHECK ((VALUE < 8))' };
    expect(altered({ checks: [POSITIVE, SMALL] }, { checks: [POSITIVE, changed] })).to.deep.equal([
      'DROP CONSTRAINT IF EXISTS "small"',
      'ADD CONSTRAINT "small" CHECK ((VALUE < 8))',
    ]);
  });
});
