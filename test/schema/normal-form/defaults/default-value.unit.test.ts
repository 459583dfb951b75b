import { expect } from 'chai';
import { isFunctionDefault } from '../../../../src/schema/normal-form/index.js';
import { defaultOf, FORCED } from '../read.js';

type Case = [type: string, given: unknown, normal: unknown, schema?: Record<string, unknown>];

const READ: Case[] = [
  ['boolean', true, true],
  ['boolean', 'false', false],
  ['boolean', 1, true],
  ['boolean', '0', false],
  ['integer', 5, 5],
  ['integer', '-5', -5],
  ['integer', -0, 0],
  ['integer', 2147483647, 2147483647],
  ['bigInteger', 42, 42],
  ['bigInteger', '42', 42],
  ['bigInteger', '9223372036854775807', '9223372036854775807'],
  ['bigInteger', '9007199254740993', '9007199254740993'],
  ['decimal', 1.5, 1.5],
  ['decimal', '1.50', 1.5],
  ['decimal', '+.5', 0.5],
  ['decimal', '1e3', 1000],
  ['decimal', '-0.00', 0],
  ['decimal', '12345.123456789012345', '12345.123456789012345'],
  ['decimal', '9007199254740993', '9007199254740993', { numeric_precision: null, numeric_scale: null }],
  ['decimal', '1e30', '1000000000000000000000000000000', { numeric_precision: null, numeric_scale: null }],
  ['decimal', 1e-7, 1e-7],
  ['decimal', '1e-3', 0.001],
  ['decimal', '12.5e-1', 1.25],
  ['decimal', '12.5e-2', 0.125],
  ['decimal', '1.25e1', 12.5],
  ['decimal', '1.25e3', 1250],
  ['decimal', '-0.5', -0.5],
  ['decimal', '1e999', `1${'0'.repeat(999)}`, { numeric_precision: null, numeric_scale: null }],
  ['decimal', '99999.99999', 99999.99999],
  ['decimal', '99999.999994', 99999.999994],
  ['decimal', '0.99999', 0.99999, { numeric_precision: 5, numeric_scale: 5 }],
  ['decimal', 0, 0, { numeric_precision: 5, numeric_scale: 5 }],
  ['decimal', 99, 99, { numeric_precision: 2, numeric_scale: 0 }],
  ['decimal', -99, -99, { numeric_precision: 2, numeric_scale: 0 }],
  ['decimal', 99.4, 99.4, { numeric_precision: 3, numeric_scale: 1 }],
  ['decimal', 99.94, 99.94, { numeric_precision: 3, numeric_scale: 1 }],
  ['bigInteger', 9007199254740991, 9007199254740991],
  ['bigInteger', -9007199254740991, -9007199254740991],
  ['decimal', '99.4', 99.4, { numeric_precision: 2, numeric_scale: 0 }],
  ['float', 0.1, 0.1],
  ['float', 0.1234567890123, 0.12345679],
  ['float', 16777217, 16777216],
  ['float', 0, 0],
  ['float', '-0.0', 0],
  ['float', -0, 0, { data_type: 'double precision' }],
  ['float', '0', 0, { data_type: 'double precision' }],
  ['float', '1e10', 1e10],
  ['float', 0.1234567890123, 0.1234567890123, { data_type: 'double precision' }],
  ['string', 'abc', 'abc'],
  ['string', "it's", "it's"],
  ['string', 'now()', 'now()'],
  ['string', '😀😀', '😀😀', { max_length: 2 }],
  ['text', 'CURRENT_TIMESTAMP', 'CURRENT_TIMESTAMP'],
  ['hash', 'x', 'x'],
  ['unknown', '::1', '::1', { data_type: 'inet' }],
  ['csv', 'a,b', 'a,b'],
  ['csv', ['a', 'b'], 'a,b'],
  ['csv', [], ''],
  ['date', '2024-02-29', '2024-02-29'],
  ['date', 'current_date', 'CURRENT_DATE'],
  ['date', 'NOW()', 'now()'],
  ['time', '10:11', '10:11:00'],
  ['time', '10:11:12.500', '10:11:12.5'],
  ['time', 'Current_Time', 'CURRENT_TIME'],
  ['dateTime', '2024-01-02 03:04', '2024-01-02T03:04:00'],
  ['dateTime', '2024-01-02', '2024-01-02T00:00:00'],
  ['dateTime', '2024-01-02t03:04:05.123456', '2024-01-02T03:04:05.123456'],
  ['timestamp', '2024-01-02T03:04:05', '2024-01-02T03:04:05Z'],
  ['timestamp', '2024-01-02T03:04:05.120+02:30', '2024-01-02T00:34:05.12Z'],
  ['timestamp', '2024-01-01 00:00:00+01', '2023-12-31T23:00:00Z'],
  ['timestamp', '0001-01-02T00:00:00z', '0001-01-02T00:00:00Z'],
  ['timestamp', ' now() ', 'now()'],
  ['timestamp', 'current_timestamp', 'CURRENT_TIMESTAMP'],
  ['time', '00:00', '00:00:00'],
  ['time', '23:59:59.999999', '23:59:59.999999'],
  ['date', '0001-01-01', '0001-01-01'],
  ['date', '9999-12-31', '9999-12-31'],
  ['timestamp', '2024-01-02', '2024-01-02T00:00:00Z'],
  ['timestamp', '2024-01-02T03:04:05+0230', '2024-01-02T00:34:05Z'],
  ['timestamp', '2024-01-02T03:04:05-02:30', '2024-01-02T05:34:05Z'],
  ['timestamp', '2024-01-02T03:04:05+15:59', '2024-01-01T11:05:05Z'],
  ['timestamp', '9999-12-31T23:59:59+00:00', '9999-12-31T23:59:59Z'],
  ['timestamp', '0001-01-01T01:00:00+01', '0001-01-01T00:00:00Z'],
  ['uuid', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ['uuid', 'Gen_Random_UUID()', 'gen_random_uuid()'],
  ['binary', '\\xABCD', '\\xabcd'],
  ['binary', '\\x', '\\x'],
  ['json', { a: [1] }, { a: [1] }],
  ['json', '{"a":[1]}', { a: [1] }],
  ['json', '[]', []],
  ['json', '{"a":"12345678901234567890"}', { a: '12345678901234567890' }],
  ['json', '["1e400", -1.50, 1E2]', ['1e400', -1.5, 100]],
  ['json', 5, 5],
  ['json', '5', 5],
  ['json', ' "abc" ', '"abc"'],
  ['json', 'null', 'null'],
  ['json', '"now()"', '"now()"', { data_type: 'jsonb' }],
];

const REFUSED: Case[] = [
  ['boolean', 'yes', 'true or false'],
  ['boolean', 2, 'true or false'],
  ['integer', 5.5, 'an integer'],
  ['integer', '5.0', 'an integer'],
  ['integer', '', 'an integer'],
  ['integer', true, 'an integer'],
  ['integer', 2147483648, 'from -2147483648 to 2147483647'],
  ['integer', 40000, 'from -32768 to 32767', { data_type: 'smallint' }],
  ['bigInteger', 9007199254740992, 'send it as a string'],
  ['bigInteger', '9223372036854775808', 'to 9223372036854775807'],
  ['decimal', 'abc', 'a number'],
  ['decimal', 'NaN', 'a number'],
  ['decimal', '.', 'a number'],
  ['decimal', '1e99999', 'a number'],
  ['decimal', 100000, 'at most 5 digits before the decimal point'],
  ['decimal', '99999.999999', 'at most 5 digits before the decimal point'],
  ['decimal', '1e1000', 'a number', { numeric_precision: null, numeric_scale: null }],
  ['decimal', '0'.repeat(1001), 'a number', { numeric_precision: null, numeric_scale: null }],
  ['decimal', '0.999995', 'at most 0 digits before the decimal point', { numeric_precision: 5, numeric_scale: 5 }],
  ['decimal', 1, 'must fit numeric(5,5): at most 0 digits', { numeric_precision: 5, numeric_scale: 5 }],
  ['decimal', '99.5', 'must fit numeric(2,0): at most 2 digits', { numeric_precision: 2, numeric_scale: 0 }],
  ['decimal', 1e21, 'send it as a string'],
  ['float', 'Infinity', 'a number'],
  ['float', 1e39, 'range of real'],
  ['float', 1e-60, 'range of real'],
  ['string', 5, 'a string'],
  ['text', 5, 'a string'],
  ['hash', 5, 'a string'],
  ['unknown', 5, 'a string', { data_type: 'inet' }],
  ['string', 'abcd', 'at most 3 characters (it has 4)', { max_length: 3 }],
  ['csv', ['a,b'], 'without commas'],
  ['csv', 5, 'a string'],
  ['date', '2023-02-29', 'an existing date'],
  ['date', '0000-01-01', 'an existing date'],
  ['date', '2024-1-1', 'an existing date'],
  ['date', '2024-01-01T00:00:00', 'an existing date'],
  ['time', '24:00:00', 'a time'],
  ['time', '10:11:60', 'a time'],
  ['time', '10:60', 'a time'],
  ['time', '', 'a time'],
  ['time', 5, 'a time'],
  ['time', '10:11:12.1234567', 'a time'],
  ['dateTime', '2024-01-02T03:04:05Z', 'without a time zone'],
  ['timestamp', '2024-13-02T03:04:05Z', 'an existing date and time'],
  ['timestamp', '2024-01-02T03:04:05+16:00', 'an existing date and time'],
  ['timestamp', '0001-01-01T00:00:00+02:00', 'an existing date and time'],
  ['timestamp', '9999-12-31T23:00:00-02:00', 'an existing date and time'],
  ['timestamp', '2024-01-02T03:04:05+01:60', 'an existing date and time'],
  ['timestamp', '2024-01-02T25:04:05Z', 'an existing date and time'],
  ['timestamp', 'now', 'an existing date and time'],
  ['date', 'CURRENT_TIME', 'an existing date'],
  ['uuid', 'now()', 'a uuid'],
  ['uuid', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a uuid'],
  ['binary', 'abc', 'hexadecimal'],
  ['binary', '\\xabc', 'hexadecimal'],
  ['json', '{a:1}', 'must be JSON'],
  ['json', '[12345678901234567890]', 'more digits'],
  ['json', '1e400', 'more digits'],
  ['json', '"\\u0000"', 'NUL'],
  ['json', '"\\ud800"', 'surrogate'],
  ['json', `${'['.repeat(65)}${']'.repeat(65)}`, 'deeper than 64'],
  ['geometry', 'POINT(1 1)', 'no default'],
];

describe('default values', () => {
  for (const [type, input, normal, schema] of READ) {
    it(`convert ${JSON.stringify(input)} of type ${type} to ${JSON.stringify(normal)}`, () => {
      const read = defaultOf(type, input, schema);
      expect(read).to.deep.equal(normal);
      expect(defaultOf(type, read, schema), 'read again').to.deep.equal(normal);
    });
  }

  for (const [type, input, message, schema] of REFUSED) {
    it(`reject ${JSON.stringify(input).slice(0, 60)} for type ${type}`, () => {
      const read = defaultOf(type, input, schema);
      expect(read).to.have.property('wrong').that.includes(message);
      expect(read).to.have.property('wrong').that.includes('schema.default_value: default_value ');
    });
  }

  it('may be numbers and booleans from another vendor for texts', () => {
    expect(defaultOf('string', 5, {}, FORCED)).to.equal('5');
    expect(defaultOf('text', false, {}, FORCED)).to.equal('false');
  });

  it('are functions only for types that support them', () => {
    expect(isFunctionDefault('timestamp', { default_value: 'now()' })).to.equal(true);
    expect(isFunctionDefault('uuid', { default_value: 'gen_random_uuid()' })).to.equal(true);
    expect(isFunctionDefault('string', { default_value: 'now()' })).to.equal(false);
    expect(isFunctionDefault('timestamp', { default_value: '2024-01-01T00:00:00Z' })).to.equal(false);
    expect(isFunctionDefault('json', { default_value: { a: 1 } })).to.equal(false);
  });
});
