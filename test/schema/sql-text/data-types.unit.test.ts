import { expect } from 'chai';
import {
  columnType,
  holdsText,
  keyFamily,
  parseDataType,
  restrictedGeometry,
} from '../../../src/schema/sql-text/data-types.js';
import { column } from '../../projector/columns.js';
import type { ColumnSchema } from '../../../src/schema/model/model.js';

describe('data types', () => {
  it('are compatible in a foreign key within a family only', () => {
    const families = [
      ['smallint', 'integer', 'bigint'],
      ['real', 'double precision'],
      ['character varying', 'character', 'text'],
      ['numeric'],
      ['uuid'],
      ['citext'],
      ['date'],
      ['inet'],
    ];
    const all = families.flat();
    for (const family of families) {
      for (const type of family) {
        const comparable = all.filter((other) => keyFamily(other) === keyFamily(type));
        expect(comparable, type).to.have.members(family);
      }
    }
  });

  it('are parsed in every spelling of PostgreSQL', () => {
    const spellings: Record<string, [string, number[]]> = {
      'VARCHAR(50)': ['character varying', [50]],
      'char varying ( 7 )': ['character varying', [7]],
      char: ['character', []],
      'bpchar(3)': ['character', [3]],
      bool: ['boolean', []],
      int2: ['smallint', []],
      int: ['integer', []],
      INT4: ['integer', []],
      int8: ['bigint', []],
      float4: ['real', []],
      float: ['double precision', []],
      float8: ['double precision', []],
      'decimal(10, 5)': ['numeric', [10, 5]],
      'dec(3,-2)': ['numeric', [3, -2]],
      time: ['time without time zone', []],
      'time(3) without time zone': ['time without time zone', [3]],
      timestamp: ['timestamp without time zone', []],
      'timestamptz(0)': ['timestamp with time zone', [0]],
      ' Double Precision ': ['double precision', []],
      inet: ['inet', []],
    };
    for (const [written, [name, parameters]] of Object.entries(spellings)) {
      expect(parseDataType(written), written).to.deep.equal({ name, parameters });
    }
    for (const wrong of ['', '(5)', 'varchar(x)', 'varchar(5', 'numeric(1,2,3)', 'varchar(123456789)']) {
      expect(parseDataType(wrong), wrong).to.equal(null);
    }
  });

  it('know whether they can store any text, and unknown types may', () => {
    for (const type of ['character varying', 'character', 'text', 'citext', 'inet'])
      expect(holdsText(type), type).to.equal(true);
    for (const type of ['integer', 'uuid', 'json', 'date']) expect(holdsText(type), type).to.equal(false);
  });

  it('are printed like PostgreSQL does', () => {
    const written = (type: string, schema: object = {}) => columnType(column('a', type, schema).schema as ColumnSchema);
    expect(written('string', { max_length: 1 })).to.equal('character varying(1)');
    expect(written('string', { max_length: null })).to.equal('character varying');
    expect(written('decimal', { numeric_precision: 10, numeric_scale: 0 })).to.equal('numeric(10,0)');
    expect(written('decimal', { numeric_precision: null, numeric_scale: null })).to.equal('numeric');
    expect(written('integer')).to.equal('integer');
    expect(written('timestamp', { extras: { precision: 0 } })).to.equal('timestamp(0) with time zone');
    expect(written('time', { extras: { precision: 3 } })).to.equal('time(3) without time zone');
    expect(written('date')).to.equal('date');
  });

  it('parse geometries with a modifier in every spelling', () => {
    const spellings = new Map([
      ['geometry(Point,4326)', 'geometry(Point,4326)'],
      ['GEOMETRY ( pointz , 2056 )', 'geometry(PointZ,2056)'],
      ['geometry(multipolygonzm)', 'geometry(MultiPolygonZM)'],
      ['geometry(Geometry,0)', 'geometry(Geometry)'],
    ]);
    for (const [text, name] of spellings) {
      expect(parseDataType(text)).to.deep.equal({ name, parameters: [] });
      expect(restrictedGeometry(text)?.name).to.equal(name);
    }
    for (const text of ['geometry(Square)', 'geography(Point,4326)', 'geometry()', 'geometry'])
      expect(restrictedGeometry(text), text).to.equal(undefined);
  });
});
