import { expect } from 'chai';
import { type Wire, beginWithSettings } from '../../src/postgres/client.js';

const BEFORE = ['BEGIN', 'RESET default_transaction_read_only', 'COMMIT'];

/** Records what is sent, and which responses pass through. */
function createWire() {
  const sent: string[] = [];
  const through: string[] = [];
  const wire: Wire = {
    query: (text) => void sent.push(text),
    parse: (message, more) => void sent.push(`parse ${JSON.stringify([message, more])}`),
    bind: (message, more) => void sent.push(`bind ${JSON.stringify([message, more])}`),
    execute: (message, more) => void sent.push(`execute ${JSON.stringify([message, more])}`),
    emit: (event, ...input) => {
      through.push([event, ...input.map((each) => JSON.stringify(each))].join(' '));
      return false;
    },
  };
  beginWithSettings(wire, 'SET x');
  return {
    wire,
    /** Returns what was sent since the last call. */
    sent: () => sent.splice(0),
    /**
     * Responds with a number of completed statements and the transaction status.
     * @returns the numbers (from 0) that passed through
     */
    answer: (count: number, status?: string, event = 'commandComplete'): number[] => {
      const got = Array.from({ length: count }, (_, index) => {
        const before = through.length;
        wire.emit('rowDescription');
        wire.emit('dataRow');
        wire.emit(event);
        const events = through.slice(before);
        expect(events).to.deep.equal(events.length === 0 ? [] : ['rowDescription', 'dataRow', event]);
        return events.length === 0 ? -1 : index;
      });
      expect(wire.emit('readyForQuery', ...(status === undefined ? [] : [{ status }]))).to.equal(false);
      expect(through.at(-1)).to.contain('readyForQuery');
      return got.filter((index) => index >= 0);
    },
    through: () => through.splice(0),
  };
}

/** The messages of one of our statements. */
const expectedMessages = (text: string): string[] => [
  `parse [${JSON.stringify({ text, name: '', types: [] })},true]`,
  'bind [{},true]',
  'execute [{},true]',
];

describe('simple queries through a pooler', () => {
  it('send the settings first and hide their results', () => {
    const { wire, sent, answer } = createWire();
    wire.query('SELECT 1');
    expect(sent()).to.deep.equal([[...BEFORE, 'SET x', 'SELECT 1'].join('; ')]);
    expect(answer(5, 'I')).to.deep.equal([4]);
    wire.query('SELECT 2; SELECT 3');
    expect(sent()).to.deep.equal([[...BEFORE, 'SET x', 'SELECT 2', 'SELECT 3'].join('; ')]);
    expect(answer(6, 'I')).to.deep.equal([4, 5]);
  });

  it('send the settings after a BEGIN', () => {
    const { wire, sent, answer } = createWire();
    wire.query('BEGIN; SELECT 1');
    expect(sent()).to.deep.equal([[...BEFORE, 'BEGIN', 'SET x', 'SELECT 1'].join('; ')]);
    expect(answer(6, 'T')).to.deep.equal([3, 5]);
    for (const text of ['SELECT 1', 'COMMIT', '']) wire.query(text);
    expect(sent()).to.deep.equal(['SELECT 1', 'COMMIT', '']);
    expect(answer(2, 'I')).to.deep.equal([0, 1]);
  });

  it('recognize every spelling of BEGIN in our code', () => {
    for (const begin of ['BEGIN', ' begin isolation level repeatable read', 'START  TRANSACTION READ ONLY']) {
      const { wire, sent } = createWire();
      wire.query(`${begin}; SELECT 1`);
      expect(sent()).to.deep.equal([`${BEFORE.join('; ')}; ${begin}; SET x; SELECT 1`]);
    }
    const { wire, sent } = createWire();
    wire.query('BEGINNING');
    expect(sent()).to.deep.equal([[...BEFORE, 'SET x', 'BEGINNING'].join('; ')]);
  });

  it('send the settings after a combined COMMIT and BEGIN', () => {
    const { wire, sent, answer } = createWire();
    wire.query('BEGIN');
    expect(sent()).to.deep.equal([[...BEFORE, 'BEGIN', 'SET x'].join('; ')]);
    expect(answer(5, 'E')).to.deep.equal([3]);
    wire.query('ROLLBACK; BEGIN; SELECT 1');
    expect(sent()).to.deep.equal(['ROLLBACK;  BEGIN; SET x; SELECT 1']);
    expect(answer(4, 'T')).to.deep.equal([0, 1, 3]);
    wire.query('SELECT 2');
    expect(sent()).to.deep.equal(['SELECT 2']);
  });

  it('report empty queries, which begin nothing', () => {
    const { wire, sent, answer } = createWire();
    wire.query('');
    expect(sent()).to.deep.equal(['']);
    expect(answer(1, 'I', 'emptyQuery')).to.deep.equal([0]);
  });

  it('assume no open transaction if the state is unknown', () => {
    const { wire, sent, answer } = createWire();
    wire.query('SELECT 1');
    sent();
    answer(5);
    wire.query('SELECT 2');
    expect(sent()).to.deep.equal([[...BEFORE, 'SET x', 'SELECT 2'].join('; ')]);
  });

  it('pass everything else unchanged', () => {
    const { wire, through } = createWire();
    wire.query('SELECT 1');
    expect(wire.emit('error', { code: 'x' })).to.equal(false);
    expect(wire.emit('notice')).to.equal(false);
    expect(wire.emit('rowDescription')).to.equal(true);
    expect(through()).to.deep.equal(['error {"code":"x"}', 'notice']);
  });
});

describe('statement batches through a pooler', () => {
  const flight = (wire: Wire, ...texts: string[]): void => {
    for (const text of texts) {
      wire.parse({ text, name: 'n', types: [] }, true);
      wire.bind({ values: [] }, true);
      wire.execute({ portal: '' }, true);
    }
  };
  const theirs = (text: string): string[] => [
    `parse [${JSON.stringify({ text, name: 'n', types: [] })},true]`,
    'bind [{"values":[]},true]',
    'execute [{"portal":""},true]',
  ];

  it('send the settings before the first statement', () => {
    const { wire, sent, answer } = createWire();
    flight(wire, 'SELECT 1', 'SELECT 2');
    expect(sent()).to.deep.equal([
      ...[...BEFORE, 'SET x'].flatMap(expectedMessages),
      ...theirs('SELECT 1'),
      ...theirs('SELECT 2'),
    ]);
    expect(answer(6, 'I')).to.deep.equal([4, 5]);
    flight(wire, 'SELECT 3');
    expect(sent()).to.deep.equal([...[...BEFORE, 'SET x'].flatMap(expectedMessages), ...theirs('SELECT 3')]);
  });

  it('send the settings after a BEGIN, and none inside the transaction', () => {
    const { wire, sent, answer } = createWire();
    flight(wire, 'BEGIN', 'SELECT 1');
    expect(sent()).to.deep.equal([
      ...BEFORE.flatMap(expectedMessages),
      ...theirs('BEGIN'),
      ...expectedMessages('SET x'),
      ...theirs('SELECT 1'),
    ]);
    expect(answer(6, 'T')).to.deep.equal([3, 5]);
    flight(wire, 'SELECT 2', 'ROLLBACK TO SAVEPOINT s', 'SELECT 3');
    expect(sent()).to.deep.equal(['SELECT 2', 'ROLLBACK TO SAVEPOINT s', 'SELECT 3'].flatMap(theirs));
    expect(answer(3, 'T')).to.deep.equal([0, 1, 2]);
  });

  it('send the settings before statements after a COMMIT', () => {
    const { wire, sent, answer } = createWire();
    flight(wire, 'BEGIN');
    answer(5, 'T');
    sent();
    flight(wire, 'COMMIT', 'SELECT 1');
    expect(sent()).to.deep.equal([
      ...theirs('COMMIT'),
      ...[...BEFORE, 'SET x'].flatMap(expectedMessages),
      ...theirs('SELECT 1'),
    ]);
    expect(answer(6, 'I')).to.deep.equal([0, 5]);
  });

  it('send no settings after ending what is not open', () => {
    const { wire, sent, answer } = createWire();
    flight(wire, 'ROLLBACK');
    expect(sent()).to.deep.equal(theirs('ROLLBACK'));
    expect(answer(1, 'I')).to.deep.equal([0]);
  });
});
