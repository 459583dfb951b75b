import { expect } from 'chai';
import { type Edited, LIBRARY, column, edit, fieldIn, key, table } from './diffs.js';
import { rows } from './told.js';

describe('a narrower type', () => {
  const TYPES = {
    smallint: ['integer', { data_type: 'smallint' }],
    integer: ['integer', {}],
    bigint: ['bigInteger', {}],
    numeric: ['decimal', { numeric_precision: null, numeric_scale: null }],
    'numeric(10,2)': ['decimal', { numeric_precision: 10, numeric_scale: 2 }],
    'numeric(11,2)': ['decimal', { numeric_precision: 11, numeric_scale: 2 }],
    'numeric(11,3)': ['decimal', { numeric_precision: 11, numeric_scale: 3 }],
    'numeric(10,3)': ['decimal', { numeric_precision: 10, numeric_scale: 3 }],
    'numeric(10)': ['decimal', { numeric_precision: 10, numeric_scale: 0 }],
    real: ['float', { data_type: 'real' }],
    double: ['float', { data_type: 'double precision' }],
    date: ['date', {}],
    time: ['time', {}],
    dateTime: ['dateTime', {}],
    timestamp: ['timestamp', {}],
    text: ['text', {}],
    'varchar(10)': ['string', { max_length: 10 }],
    'varchar(20)': ['string', { max_length: 20 }],
    'char(10)': ['string', { data_type: 'character', max_length: 10 }],
  } satisfies Record<string, [string, object]>;
  const names = Object.keys(TYPES) as (keyof typeof TYPES)[];

  it('may not fit values of the former type within a family', () => {
    // One column of each type. One change gives all of them the same type.
    const columns = (typeOf: (name: keyof typeof TYPES) => [string, object]): Edited['fields'] =>
      names.map((name, at) => {
        const [type, schema] = typeOf(name);
        return column('articles', `of_${at}`, type, { ...schema });
      });
    const before = edit(LIBRARY, ({ fields }) =>
      fields.push(...columns((name) => TYPES[name] as [string, object])),
    ).after;
    const narrowed = new Map<string, string[]>(names.map((name) => [name, []]));
    for (const to of names) {
      const all = columns(() => TYPES[to] as [string, object]);
      const { findings } = edit(before, (snapshot) => {
        const { fields } = snapshot;
        snapshot.fields = [...fields.filter(({ field }) => !field.startsWith('of_')), ...all];
      });
      for (const { code, field = '' } of findings)
        if (code === 'NARROWS_TYPE') narrowed.get(names[Number(field.slice('of_'.length))] ?? '')?.push(to);
    }
    const narrower = [...narrowed].map(([from, to]) => `${from}: ${to.join(', ')}`);
    expect(narrower).to.deep.equal([
      'smallint: ',
      'integer: smallint',
      'bigint: smallint, integer',
      'numeric: smallint, integer, bigint, numeric(10,2), numeric(11,2), numeric(11,3), numeric(10,3), numeric(10)',
      'numeric(10,2): smallint, integer, bigint, numeric(10,3), numeric(10)',
      'numeric(11,2): smallint, integer, bigint, numeric(10,2), numeric(11,3), numeric(10,3), numeric(10)',
      'numeric(11,3): smallint, integer, bigint, numeric(10,2), numeric(11,2), numeric(10,3), numeric(10)',
      'numeric(10,3): smallint, integer, bigint, numeric(10,2), numeric(11,2), numeric(10)',
      'numeric(10): smallint, integer, bigint, numeric(10,2), numeric(11,2), numeric(11,3), numeric(10,3)',
      'real: ',
      'double: smallint, integer, real',
      'date: ',
      'time: ',
      'dateTime: date, time',
      'timestamp: date',
      'text: varchar(10), varchar(20), char(10)',
      'varchar(10): ',
      'varchar(20): varchar(10), char(10)',
      'char(10): ',
    ]);
  });
});

describe('a key that runs out', () => {
  const levels = (type: string, count: number | null, more: object = {}): string[] =>
    edit(
      LIBRARY,
      (snapshot) => {
        const id = fieldIn(snapshot, 'id');
        Object.assign(id, key('articles', type, { ...more }));
      },
      rows(count),
    )
      .findings.filter(({ code }) => code === 'KEY_MAY_OVERFLOW')
      .map(({ level, message, statistics }) => `${level} ${statistics?.rows}: ${message}`);

  it('is reported at a tenth and at half of its range', () => {
    const messagesOf = (type: string, counts: (number | null)[], more: object = {}) =>
      counts.map((count) => levels(type, count, more)[0]?.split(':')[0]);
    const most = 2_147_483_647;
    expect(
      messagesOf('integer', [
        null,
        0,
        Math.floor(most / 10),
        Math.ceil(most / 10),
        Math.floor(most / 2),
        Math.ceil(most / 2),
      ]),
    ).to.deep.equal([
      'note null',
      'note 0',
      'note 214748364',
      'warn 214748365',
      'warn 1073741823',
      'danger 1073741824',
    ]);
    expect(messagesOf('integer', [null, 16_383, 16_384], { data_type: 'smallint' })).to.deep.equal([
      'warn null',
      'warn 16383',
      'danger 16384',
    ]);
    expect(levels('integer', 1)).to.deep.equal(['note 1: articles.id: a key of type integer has 2,147,483,647 values']);
    expect(levels('integer', 1, { data_type: 'smallint' })).to.deep.equal([
      'warn 1: articles.id: a key of type smallint has 32,767 values',
    ]);
    expect(levels('bigInteger', most)).to.deep.equal([]);
  });

  it('is reported for a new table once, without its size', () => {
    const created = edit(LIBRARY, (snapshot) => {
      snapshot.collections.push(table('notes'));
      snapshot.fields.push(key('notes', 'integer'));
    });
    const [finding] = created.findings;
    expect(finding).not.to.have.property('statistics');
    expect(finding).to.include({ level: 'note', collection: 'notes', field: 'id' });
    const again = edit(created.after, ({ fields }) => {
      for (const each of fields) if (each.collection === 'notes') Object.assign(each, { meta: { note: 'x' } });
    });
    expect(again.findings).to.deep.equal([]);
  });

  it('is not reported for keys without sequence or sequences without key', () => {
    const given = ({ collections, fields }: Edited): void => {
      collections.push(table('notes'));
      fields.push(column('notes', 'id', 'integer', { is_primary_key: true, is_nullable: false }));
      fields.push(column('articles', 'number', 'integer', { has_auto_increment: true, is_nullable: false }));
    };
    const { findings } = edit(LIBRARY, given);
    expect(findings.filter(({ code }) => code === 'KEY_MAY_OVERFLOW')).to.deep.equal([]);
  });
});
