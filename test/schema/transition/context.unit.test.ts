import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { initialState } from '../../../src/schema/model/state.js';
import type { Field } from '../../../src/schema/model/model.js';
import { columnChanges } from '../../../src/schema/transition/context.js';
import { column, created } from '../../projector/columns.js';

const withColumn = (field: Field) => runToEnd(planBatch(initialState(), [created('t', [field])], 'public')).after;
const changes = (from: Field, to: Field) => columnChanges(withColumn(from), withColumn(to), 't', 'n');

describe('a column whose foreign keys must be dropped first', () => {
  const decimal = (precision: number, scale: number) =>
    column('n', 'decimal', { numeric_precision: precision, numeric_scale: scale });

  it('changes its type, length, precision or scale', () => {
    expect(changes(column('n', 'integer'), column('n', 'bigInteger'))).to.equal(true);
    expect(changes(column('n', 'string', { max_length: 9 }), column('n', 'string', { max_length: 8 }))).to.equal(true);
    expect(changes(decimal(10, 2), decimal(11, 2))).to.equal(true);
    expect(changes(decimal(10, 2), decimal(10, 3))).to.equal(true);
    expect(changes(column('n', 'uuid'), column('n', 'uuid', { is_primary_key: true }))).to.equal(true);
    expect(changes(column('n', 'integer'), column('n', 'alias', null))).to.equal(true);
  });

  it('does not differ only in other members', () => {
    expect(changes(decimal(10, 2), decimal(10, 2))).to.equal(false);
    expect(changes(column('n', 'integer'), column('n', 'integer', { is_indexed: true, comment: 'x' }))).to.equal(false);
  });
});
