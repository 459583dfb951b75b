import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { questionsOf } from '../../../src/schema/findings/planned-batch.js';
import { type Edited, LIBRARY, eventsOfEdit, column, key, table } from './diffs.js';
import { add, relation, set } from './told.js';

function listQuestions(change: (snapshot: Edited) => void) {
  const events = eventsOfEdit(LIBRARY, change);
  const plan = { before: LIBRARY, events, ...runToEnd(planBatch(LIBRARY, events, 'public')) };
  return runToEnd(questionsOf(plan));
}

const none = { tables: [], altered: [] };

describe('queries for findings', () => {
  it('cover the size of locked tables, and dependents of changed columns', () => {
    expect(listQuestions(set('title', { is_nullable: false }))).to.deep.equal({
      tables: ['articles'],
      altered: ['articles'],
    });
    expect(listQuestions(add('more', 'string'))).to.deep.equal({ tables: ['articles'], altered: ['articles'] });
    expect(listQuestions(relation())).to.deep.equal({ tables: ['articles', 'authors'], altered: [] });
    const gone = (snapshot: Edited): void => {
      snapshot.collections = snapshot.collections.filter(({ collection }) => collection !== 'authors');
      snapshot.fields = snapshot.fields.filter(({ collection }) => collection !== 'authors');
    };
    expect(listQuestions(gone)).to.deep.equal({ tables: ['authors'], altered: ['authors'] });
    const without = (snapshot: Edited): void => {
      snapshot.fields = snapshot.fields.filter(({ field }) => field !== 'title');
    };
    expect(listQuestions(without)).to.deep.equal({ tables: ['articles'], altered: ['articles'] });
  });

  it('use the former names', () => {
    const renamed = (snapshot: Edited): void => {
      for (const each of [...snapshot.fields, ...snapshot.collections])
        if (each.collection === 'authors')
          Object.assign(each, { collection: 'people', meta: undefined, schema: undefined });
      Object.assign(snapshot.collections.find(({ collection }) => collection === 'people') ?? {}, {
        renamed_from: 'authors',
      });
      snapshot.fields.push(column('people', 'name', 'string', { is_indexed: true }));
    };
    expect(listQuestions(renamed)).to.deep.equal({ tables: ['authors'], altered: ['authors'] });
    const field = (snapshot: Edited): void => {
      for (const each of snapshot.fields)
        if (each.field === 'title')
          Object.assign(each, { field: 'headline', renamed_from: 'title', meta: undefined, schema: undefined });
    };
    expect(listQuestions(field)).to.deep.equal({ tables: ['articles'], altered: ['articles'] });
  });

  it('ignore new objects and pure metadata', () => {
    const build = ({ collections, fields }: Edited): void => {
      collections.push(table('notes'));
      fields.push(key('notes'), column('notes', 'text', 'string', { is_indexed: true }));
    };
    expect(listQuestions(build)).to.deep.equal(none);
    const noted = ({ collections }: Edited): void =>
      collections.forEach((each) => Object.assign(each, { meta: { note: 'n' } }));
    expect(listQuestions(noted)).to.deep.equal(none);
  });
});
