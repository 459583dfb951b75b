import { expect } from 'chai';
import { spellingFault } from '../../../../src/schema/normal-form/types/column-type.js';

const SHOWN = 'must be written as PostgreSQL shows it';
const AN_ARRAY = `${SHOWN}: an array type is the element type and []`;
const spellingProblem = (type: string) => `must be written with its name in this service, ${type}`;
const COUNTED = 'is not a column type: use integer or bigInteger with has_auto_increment';
const BARE = 'must be written without pg_catalog';

const CASES: [text: string, fault: string | null][] = [
  ['mood', null],
  ['mood[]', null],
  ['arrays', null],
  ['bit(3)', null],
  ['integer[]', null],
  ['character varying(5)[]', null],
  ['character(3)[]', null],
  ['numeric(5,2)[]', null],
  ['timestamp(3) without time zone', null],
  ['timestamp(3) without time zone[]', null],
  ['time(3) with time zone', null],
  ['bpchar', null],
  ['bpchar[]', null],
  ['"my array"', null],
  ['" x "', null],
  ['"a[b]"', null],
  ['serial', COUNTED],
  ['SERIAL4', COUNTED],
  ['bigserial', COUNTED],
  ['smallserial', COUNTED],
  ['serial[]', COUNTED],
  ['pg_catalog.int4', BARE],
  ['PG_CATALOG.mood', BARE],
  [' mood', AN_ARRAY],
  ['mood ', AN_ARRAY],
  ['mood[][]', AN_ARRAY],
  ['mood[3]', AN_ARRAY],
  ['mood ARRAY', AN_ARRAY],
  ['integer', spellingProblem('integer')],
  ['int4', spellingProblem('integer')],
  ['character varying(5)', spellingProblem('string')],
  ['bpchar(3)', spellingProblem('string')],
  ['int4[]', `${SHOWN}: integer[]`],
  ['INTEGER[]', `${SHOWN}: integer[]`],
  ['varchar(5)[]', `${SHOWN}: character varying(5)[]`],
  ['bpchar(3)[]', `${SHOWN}: character(3)[]`],
  ['numeric(5, 2)[]', `${SHOWN}: numeric(5,2)[]`],
  ['timestamp(3)', `${SHOWN}: timestamp(3) without time zone`],
  ['timestamp(3)[]', `${SHOWN}: timestamp(3) without time zone[]`],
  ['time with time zone', null],
  ['timetz', `${SHOWN}: time with time zone`],
  ['TIMETZ(3)', `${SHOWN}: time(3) with time zone`],
  ['timetz(3)[]', `${SHOWN}: time(3) with time zone[]`],
  ['bit varying', null],
  ['bit varying(5)[]', null],
  ['varbit', `${SHOWN}: bit varying`],
  ['varbit(5)', `${SHOWN}: bit varying(5)`],
  ['bit', `${SHOWN}: bit(1)`],
  ['bit[]', `${SHOWN}: bit(1)[]`],
  ['bit(1)', null],
  ['nchar(3)[]', `${SHOWN}: character(3)[]`],
  ['national character varying(5)', spellingProblem('string')],
];

describe('the spelling of an unnamed type', () => {
  for (const [text, fault] of CASES) {
    it(`${JSON.stringify(text)}: ${fault ?? 'as in the catalog'}`, () => {
      expect(spellingFault(text)).to.equal(fault);
    });
  }
});
