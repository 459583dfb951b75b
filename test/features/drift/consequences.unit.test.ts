import { expect } from 'chai';
import { isConsequence } from '../../../src/features/drift/renames.js';
import type { Json } from '../../../src/kernel/json.js';
import { initialState } from '../../../src/schema/model/state.js';
import { catalogTable } from '../../projector/catalog-tables.js';

function consequence(expected: Json, actual: Json, ...renamed: [was: string, is: string][]): boolean {
  const tables = new Map(renamed.map(([was, is]) => [was, catalogTable(is)]));
  return isConsequence(
    { where: 'catalog', collection: 't', member: 'x', expected, found: actual },
    { state: initialState(), renamed: tables },
  );
}

const key = (table: string, onDelete = 'CASCADE'): Json => ({
  kind: 'foreign key',
  references: { schema: 'public', table, onDelete },
});
const words = (target: string, rest = ''): Json => ({
  definition: `FOREIGN KEY (a, b) REFERENCES ${target}(x, y)${rest}`,
});
const part = (table: string, bound = 'DEFAULT'): Json => ({ table, bound });

describe('consequences of a table rename', () => {
  it('are differences in foreign keys, definitions and partitions that contain only the new name', () => {
    expect(consequence(key('was'), key('is'), ['was', 'is'])).to.equal(true);
    expect(consequence(part('was'), part('is'), ['was', 'is'])).to.equal(true);
    expect(consequence(words('was'), words('now'), ['was', 'now'])).to.equal(true);
    expect(consequence(words('"wa""s"'), words('"I s"'), ['wa"s', 'I s'])).to.equal(true);
    expect(consequence(words('was', ' MATCH $& FULL'), words('now', ' MATCH $& FULL'), ['was', 'now'])).to.equal(true);
    expect(consequence(words('"a$&"'), words('now'), ['a$&', 'now'])).to.equal(true);
    // A keyword is quoted if it could be read as one.
    expect(consequence(words('"order"'), words('"is"'), ['order', 'is'])).to.equal(true);
    expect(consequence(key('was'), key('is'), ['other', 'else'], ['was', 'is'])).to.equal(true);
  });

  it('exclude differences in other members', () => {
    expect(consequence(key('was'), key('is', 'NO ACTION'), ['was', 'is'])).to.equal(false);
    expect(consequence(part('was'), part('is', 'FOR VALUES IN (1)'), ['was', 'is'])).to.equal(false);
    expect(consequence(words('was'), words('now', ' NOT VALID'), ['was', 'now'])).to.equal(false);
    expect(consequence(key('was'), key('else'), ['was', 'is'])).to.equal(false);
    expect(consequence(words('was'), words('nowhere'), ['was', 'now'])).to.equal(false);
    expect(consequence(words('was'), words('"now"'), ['was', 'now'])).to.equal(false);
    expect(consequence(key('was'), key('is'))).to.equal(false);
  });

  it('exclude objects missing on one side', () => {
    expect(consequence(null, key('is'), ['was', 'is'])).to.equal(false);
    expect(consequence(key('was'), null, ['was', 'is'])).to.equal(false);
    expect(consequence('was', 'is', ['was', 'is'])).to.equal(false);
  });
});
