import { expect } from 'chai';
import { vendorDefault, vendorFunction, vendorOf } from '../../../src/schema/import/columns.js';

describe("other vendors' functions", () => {
  const SAME: [ours: string, theirs: string[]][] = [
    [
      'CURRENT_TIMESTAMP',
      [
        'now',
        'CURRENT_TIMESTAMP',
        'current_timestamp()',
        'CURRENT_TIMESTAMP(6)',
        '(getdate())',
        '((getutcdate()))',
        'sysdatetime()',
        'sysutcdatetime()',
        'sysdatetimeoffset()',
        'SYSDATE',
        'systimestamp',
        'localtimestamp',
        "(datetime('now'))",
      ],
    ],
    ['CURRENT_DATE', ['current_date()', 'curdate()']],
    ['CURRENT_TIME', ['current_time()', 'curtime()', 'current_time(3)']],
    ['gen_random_uuid()', ['uuid()', '(newid())', 'newsequentialid()', 'sys_guid()', 'uuid_generate_v4()']],
  ];
  for (const [ours, theirs] of SAME) {
    for (const each of theirs) it(`${each} is ${ours}`, () => expect(vendorFunction(` ${each} `)).to.equal(ours));
  }

  it('are not replaced otherwise', () => {
    for (const text of ['', 'later', 'now(12)', '(now', '(uuid()x', 'current_timestamp(66)', "'now'"]) {
      expect(vendorFunction(text), text).to.equal(undefined);
    }
  });
});

describe('the source database of a file', () => {
  const typed = (data_type: string) => ({ fields: [{ schema: null }, 'x', { schema: { data_type } }] });

  it('is the given one, or is inferred from the types', () => {
    expect(vendorOf({ vendor: 'mysql' })).to.equal('mysql');
    for (const vendor of ['postgres', 'cockroachdb', 'redshift']) expect(vendorOf({ vendor })).to.equal('postgres');
    for (const type of [
      'character varying',
      'timestamp with time zone',
      'timestamp without time zone',
      'time without time zone',
    ]) {
      expect(vendorOf(typed(type)), type).to.equal('postgres');
    }
    expect(vendorOf({ vendor: 'mysql', ...typed('character varying') })).to.equal('mysql');
    expect(vendorOf(typed('varchar'))).to.equal(undefined);
    expect(vendorOf({ fields: 'none' })).to.equal(undefined);
    expect(vendorOf({ vendor: 5 })).to.equal(undefined);
  });
});

describe('default texts', () => {
  it('become the values they contain', () => {
    const values: [text: string, value: string | null][] = [
      ["(N'x')", 'x'],
      ["((N'it''s'))", "it's"],
      ["N'(x)'", '(x)'],
      ["('a)(b')", 'a)(b'],
      ["'x'", 'x'],
      ["_utf8mb4'x'", 'x'],
      ['((0))', '0'],
      ['(-1.5)', '-1.5'],
      ["b'101'", '5'],
      ['(NULL)', null],
    ];
    for (const [text, value] of values) expect(vendorDefault(text, 'mssql'), text).to.deep.equal({ value });
  });

  it('become expressions if they contain calls or extra SQL Server parentheses', () => {
    for (const text of [
      '(getdate())',
      '(newid())',
      'SYSDATE',
      'upper("a")',
      'dbo.f(1)',
      '(next value for [dbo].[s])',
      's.NEXTVAL',
      '(1+1)',
    ])
      expect(vendorDefault(text, 'mssql'), text).to.equal('expression');
  });

  it('stay texts otherwise', () => {
    for (const text of ['x', 'now', '0', '(none)', 'Smith (John)', '', "it's", '(a) and (b)'])
      expect(vendorDefault(text, 'mysql'), text).to.equal(undefined);
  });
});
