import { expect } from 'chai';
import {
  everyOptionOf,
  sequenceFaults,
  unusualOptions,
  defaultBounds,
  writtenOptions,
  type SequenceOptions,
} from '../../../src/schema/model/extras.js';

const BIGGEST = '9223372036854775807';
const SMALLEST = '-9223372036854775808';

describe('sequence options', () => {
  it('default to those of PostgreSQL', () => {
    expect(everyOptionOf({}, 'bigint')).to.deep.equal({
      type: 'bigint',
      start: '1',
      increment: '1',
      min: '1',
      max: BIGGEST,
      cache: '1',
      cycle: false,
    });
    expect(everyOptionOf({ increment: '-2', cycle: true }, 'smallint')).to.deep.equal({
      type: 'smallint',
      start: '-1',
      increment: '-2',
      min: '-32768',
      max: '-1',
      cache: '1',
      cycle: true,
    });
    expect(everyOptionOf({ min: '5', max: '9' }, 'integer')).to.include({ start: '5', type: 'integer' });
    expect(everyOptionOf({ min: '5', max: '9', increment: '-1' }, 'integer').start).to.equal('9');
    expect(everyOptionOf({ type: 'integer', start: '7', cache: '3' }, 'bigint')).to.include({
      type: 'integer',
      start: '7',
      max: '2147483647',
      cache: '3',
    });
    expect(defaultBounds('bigint', '-1')).to.deep.equal({ min: SMALLEST, max: '-1' });
    expect(defaultBounds('integer', '1')).to.deep.equal({ min: '1', max: '2147483647' });
  });

  it('omit options that have their default', () => {
    const messagesOf = (options: SequenceOptions, usual = 'bigint' as const) =>
      unusualOptions(everyOptionOf(options, usual), usual);
    for (const options of [
      {},
      { increment: '-1' },
      { type: 'integer' },
      { min: '5', start: '7' },
    ] as SequenceOptions[]) {
      expect(messagesOf(options)).to.deep.equal(options);
    }
    const all: SequenceOptions = {
      type: 'smallint',
      start: '2',
      increment: '3',
      min: '0',
      max: '90',
      cache: '5',
      cycle: true,
    };
    expect(messagesOf(all)).to.deep.equal(all);
    expect(Object.keys(messagesOf(all))).to.deep.equal(['type', 'start', 'increment', 'min', 'max', 'cache', 'cycle']);
    expect(
      messagesOf({ start: '1', increment: '1', min: '1', max: BIGGEST, cache: '1', type: 'bigint' }),
    ).to.deep.equal({});
  });

  it("are numbers in PostgreSQL's spelling, and invalid ones stay", () => {
    const written = writtenOptions({ start: '007', min: '-01', max: 'x', cache: `${'1'.repeat(31)}`, increment: '-0' });
    expect(written).to.deep.equal({ start: '7', min: '-1', max: 'x', cache: '1'.repeat(31), increment: '0' });
  });

  const FAULTS: [options: SequenceOptions, faults: [string, string][]][] = [
    [{}, []],
    [{ min: SMALLEST, max: BIGGEST, start: SMALLEST }, []],
    [{ start: BIGGEST }, []],
    [
      { max: '9223372036854775808', cache: 'x', start: '' },
      [
        ['start', 'must be a 64-bit integer, as a string'],
        ['max', 'must be a 64-bit integer, as a string'],
        ['cache', 'must be a 64-bit integer, as a string'],
      ],
    ],
    [{ min: '-9223372036854775809' }, [['min', 'must be a 64-bit integer, as a string']]],
    [
      { increment: '0', cache: '0' },
      [
        ['increment', 'must not be zero'],
        ['cache', 'must be greater than zero'],
      ],
    ],
    [{ cache: '1' }, []],
    [{ type: 'smallint', max: '32767' }, []],
    [{ type: 'smallint', max: '32768' }, [['max', 'must be from -32768 to 32767, the range of type smallint']]],
    [
      { type: 'integer', min: '-2147483649', max: '2147483648' },
      [
        ['min', 'must be from -2147483648 to 2147483647, the range of type integer'],
        ['max', 'must be from -2147483648 to 2147483647, the range of type integer'],
      ],
    ],
    [{ min: '5', max: '5' }, [['max', 'must be greater than min, 5']]],
    [{ min: '5', max: '6' }, []],
    [{ increment: '-1', min: '0' }, [['min', 'must be less than max, -1']]],
    [{ start: '0' }, [['start', `must be from min to max: 1 to ${BIGGEST}`]]],
    [{ start: '10', max: '9' }, [['start', 'must be from min to max: 1 to 9']]],
    [{ start: '9', max: '9' }, []],
    [
      { increment: '0', start: '0' },
      [
        ['increment', 'must not be zero'],
        ['start', `must be from min to max: 1 to ${BIGGEST}`],
      ],
    ],
  ];
  for (const [options, faults] of FAULTS) {
    it(`${JSON.stringify(options)} have ${faults.length} faults`, () => {
      expect(sequenceFaults(options, 'bigint')).to.deep.equal(faults);
    });
  }
});
