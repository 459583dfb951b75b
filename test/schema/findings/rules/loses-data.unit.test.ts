import { expect } from 'chai';
import { losesData } from '../../../../src/schema/findings/rules/data.js';
import type { PlannedEvent, PlannedStatement } from '../../../../src/schema/findings/model.js';

function messagesOf(dropped: string | undefined, keep: number, more: object = {}) {
  const drops = dropped === undefined ? [] : [{ kind: dropped, name: 'x', table: 'articles' }];
  const source = { event: 0, type: 'field.updated', collection: 'articles', field: 'x' };
  const statement = { summary: 'it', loses_data: true, drops, source, ...more } as unknown as PlannedStatement;
  const observed = losesData.statement?.(statement, { batch: { keep } } as PlannedEvent);
  if (observed === undefined) return undefined;
  const { level, message, field, safer } = observed;
  return `${level} ${field}: ${message}. ${safer?.text.split(/[ ,]/)[0]}`;
}

const WEEK = 7 * 86_400_000;

describe('LOSES_DATA', () => {
  it('is permanent without retention, and for rounded values', () => {
    expect(messagesOf('table', 0)).to.equal('danger x: it: data is permanently lost. First');
    expect(messagesOf('column', 0)).to.equal('danger x: it: data is permanently lost. First');
    expect(messagesOf(undefined, WEEK)).to.equal('danger x: it: data is permanently lost. If');
    expect(messagesOf('constraint', WEEK)).to.equal('danger x: it: data is permanently lost. If');
  });

  it('is less severe if the data can be restored', () => {
    const kept = 'if the trash can keep it (a dry run checks that)';
    for (const dropped of ['table', 'column'])
      expect(messagesOf(dropped, WEEK)).to.equal(
        `warn x: it: data is deleted, restorable from the trash for 7d ${kept}. First`,
      );
    expect(messagesOf('table', WEEK, { kept_until: '2030-01-01' })).to.equal(
      'warn x: it: data is restorable from the trash until 2030-01-01. First',
    );
  });

  it('is not found without data loss', () => {
    expect(messagesOf('table', WEEK, { loses_data: false })).to.equal(undefined);
  });
});
