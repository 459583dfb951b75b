import { expect } from 'chai';
import { block, sql } from '../../../src/projector/ddl/sql.js';
import type { Preparable, Statement } from '../../../src/projector/ddl/step.js';
import { preparedOf, wordOf, readStep, stepsOf } from '../../../src/projector/online/steps.js';
import type { PreparationStep } from '../../../src/projector/online/types.js';
import { warningOf } from '../../../src/projector/online/plan.js';

const OFFENDING = { question: sql`SELECT ${block(sql`BEGIN END`)}`, words: ['row', 'rows'] } as never;

/** A statement on the table `t` from the field `a`. */
const statementOf = (preparable: Preparable | undefined, field: string | null = 'a', table: string | null = 't') =>
  ({
    object: { kind: 'column', name: 'a', table },
    preparable,
    source: { event: 0, type: 'field.updated', collection: 't', field },
  }) as unknown as Statement;

interface Expected {
  word: string;
  key: RegExp;
  /** The kinds and summaries. */
  steps: [kind: string, summary: string][];
  warning: string;
}

const BEGINNING = 'from the start of the preparation, not only after the change';
const UNTIL = 'This ends if the change request is withdrawn or fails';

const ROWS: [Preparable, Expected][] = [
  [
    { kind: 'not null', column: 'a' },
    {
      word: 'not null',
      key: /^not null t\.a$/,
      steps: [
        ['add', 'enforce that t.a is never null for new rows of t'],
        ['validate', 'validate that t.a is never null'],
      ],
      warning: `PostgreSQL rejects rows of t without a value for a ${BEGINNING}. ${UNTIL}`,
    },
  ],
  [
    { kind: 'constraint', name: 'c', references: null, definition: sql`CHECK (a > 0)` },
    {
      word: 'check',
      key: /^check t\.c [0-9a-f]{8}$/,
      steps: [
        ['add', 'enforce the check c of t for new rows of t'],
        ['validate', 'validate the check c of t'],
      ],
      warning: `PostgreSQL rejects rows of t that violate c ${BEGINNING}. ${UNTIL}`,
    },
  ],
  [
    { kind: 'constraint', name: 'f', references: 'o', definition: sql`FOREIGN KEY (a) REFERENCES o (id)` },
    {
      word: 'foreign key',
      key: /^foreign key t\.f [0-9a-f]{8}$/,
      steps: [
        ['add', 'enforce the foreign key f of t for new rows of t'],
        ['validate', 'validate the foreign key f of t'],
      ],
      warning: `PostgreSQL rejects rows of t without a referenced row in o, and executes the ON DELETE and ON UPDATE actions of the foreign key, ${BEGINNING}. ${UNTIL}`,
    },
  ],
  [
    { kind: 'key', name: 'u', type: 'UNIQUE', definition: sql`(a)`, after: sql` DEFERRABLE` },
    {
      word: 'unique',
      key: /^unique t\.u [0-9a-f]{8}$/,
      steps: [['index', 'build the unique u of t']],
      warning: `PostgreSQL rejects rows of t with a duplicate key of u as soon as its index is being built. ${UNTIL}`,
    },
  ],
  [
    { kind: 'key', name: 'p', type: 'PRIMARY KEY', definition: sql`(a)`, after: sql`` },
    {
      word: 'primary key',
      key: /^primary key t\.p [0-9a-f]{8}$/,
      steps: [['index', 'build the primary key p of t']],
      warning: `PostgreSQL rejects rows of t with a duplicate key of p as soon as its index is being built. ${UNTIL}`,
    },
  ],
  [
    { kind: 'index', name: 'i', unique: false, definition: sql`(a)` },
    {
      word: 'index',
      key: /^index t\.i [0-9a-f]{8}$/,
      steps: [['index', 'build the index i of t']],
      warning: `every write to t also updates the index i as soon as it is being built. ${UNTIL}`,
    },
  ],
  [
    { kind: 'index', name: 'i', unique: true, definition: sql`(a)` },
    {
      word: 'unique index',
      key: /^unique index t\.i [0-9a-f]{8}$/,
      steps: [['index', 'build the unique index i of t']],
      warning: `PostgreSQL rejects rows of t with a duplicate value of i as soon as it is being built. ${UNTIL}`,
    },
  ],
  [
    { kind: 'copy', column: { name: 'v', identity: '1.2' }, key: [{ name: 'id', identity: '1.1' }], position: 7 },
    {
      word: 'copy',
      key: /^copy t\.v [0-9a-f]{8}$/,
      steps: [
        ['note', 'track written rows of t'],
        ['copy', 'copy the values of t.v'],
      ],
      warning: `every statement that writes to t records the keys of its rows from the start of the preparation, so that the service can keep the values of v. ${UNTIL}`,
    },
  ],
];

describe('a preparable statement', () => {
  it('has its own key, even if names contain dots', () => {
    const keyOf = (table: string, column: string) => {
      const statement = statementOf({ kind: 'not null', column });
      return preparedOf({ ...statement, object: { ...statement.object, table } })?.key;
    };
    expect(keyOf('u', 'b.c')).to.be.a('string').and.not.equal(keyOf('u.b', 'c'));
  });

  for (const [what, { word, key, steps, warning }] of ROWS) {
    const prepared = preparedOf(statementOf(what));
    if (prepared === undefined) throw new Error('nothing to prepare');
    const stepping = {
      prepared,
      statement: statementOf(what),
      size: { rows: 500, bytes: 9_000 },
      notNullBy: 'check',
      offending: OFFENDING,
    } as const;

    it(`is named and described: ${word}`, () => {
      expect(prepared).to.deep.include({ table: 't', what });
      expect(prepared.key).to.match(key);
      expect(wordOf(what)).to.equal(word);
      expect(preparedOf(statementOf(what, null))?.key).to.equal(prepared.key);
      const created = stepsOf(stepping);
      expect(created.map(({ kind, summary }) => [kind, summary])).to.deep.equal(steps);
      // Existing objects need no scan.
      const isScan = ({ kind }: PreparationStep) => kind !== 'add' && kind !== 'note';
      for (const step of created) {
        expect(step).to.deep.include({
          key: `${step.kind} ${prepared.key}`,
          collection: 't',
          field: 'a',
          rows: isScan(step) ? 500 : null,
          bytes: isScan(step) ? 9_000 : null,
        });
      }
    });

    it(`is unchanged after storing: ${word}`, () => {
      for (const offending of [OFFENDING, null]) {
        for (const step of stepsOf({ ...stepping, offending })) {
          const { prepared: read, ...rest } = readStep(JSON.parse(JSON.stringify(step)) as PreparationStep);
          expect(read).to.deep.equal(prepared);
          expect(rest).to.deep.include({ notNullBy: 'check', offending, source: stepping.statement.source });
        }
      }
    });

    it(`has an early effect and a warning: ${word}`, () => {
      const reported = { code: 'ACTS_WHILE_PREPARED', collection: 't', message: warning };
      expect(warningOf(statementOf(what), prepared)).to.deep.equal({ ...reported, field: 'a' });
      expect(warningOf(statementOf(what, null), prepared)).to.deep.equal(reported);
    });
  }

  it('does not exist without a preparable part or table', () => {
    expect(preparedOf(statementOf(undefined))).to.equal(undefined);
    expect(preparedOf(statementOf({ kind: 'not null', column: 'a' }, 'a', null))).to.equal(undefined);
  });

  it('has a different key with a different definition', () => {
    const keyOf = (what: Preparable) => preparedOf(statementOf(what))?.key;
    const copy = (name: string, key: string) =>
      keyOf({ kind: 'copy', column: { name: 'v', identity: name }, key: [{ name: 'id', identity: key }], position: 7 });
    expect(new Set([copy('1.2', '1.1'), copy('1.3', '1.1'), copy('1.2', '1.4')]).size).to.equal(3);
    const index = (definition: Preparable & { kind: 'index' }) => keyOf(definition);
    expect(index({ kind: 'index', name: 'i', unique: false, definition: sql`(a)` })).to.not.equal(
      index({ kind: 'index', name: 'i', unique: false, definition: sql`(b)` }),
    );
  });
});
