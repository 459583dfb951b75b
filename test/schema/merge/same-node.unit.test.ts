import { expect } from 'chai';
import { isSameNode } from '../../../src/schema/merge/rename-sides.js';
import type { CollectionNode } from '../../../src/schema/model/state.js';
import { withRelations } from '../../support/library.js';

const [node] = [...withRelations().collections.values()].filter(({ relations }) => relations.size > 0);
const of = (changed: Partial<CollectionNode>): CollectionNode => ({ ...(node as CollectionNode), ...changed });

const { collection, fields, relations } = of({});
const [[name, field]] = [...fields] as [[string, NonNullable<ReturnType<typeof fields.get>>]];
const [[many, relation]] = [...relations] as [[string, NonNullable<ReturnType<typeof relations.get>>]];

describe('comparing a collection in two states', () => {
  it('finds copies and relations with other ids equal', () => {
    expect(isSameNode(of({}), of({}))).to.equal(true);
    expect(isSameNode(of({}), structuredClone(of({})))).to.equal(true);
    expect(isSameNode(of({}), of({ relations: new Map(relations).set(many, { ...relation, id: 999 }) }))).to.equal(
      true,
    );
  });

  it('finds any difference and missing object', () => {
    const without = <V>(map: ReadonlyMap<string, V>, key: string) => new Map([...map].filter(([each]) => each !== key));
    const others: Record<string, CollectionNode> = {
      collection: of({ collection: { ...collection, meta: { ...collection.meta, note: 'other' } } }),
      field: of({ fields: new Map(fields).set(name, { ...field, meta: { ...field.meta, note: 'other' } }) }),
      'no field': of({ fields: without(fields, name) }),
      'another field': of({ fields: without(fields, name).set('other', field) }),
      relation: of({ relations: new Map(relations).set(many, { ...relation, one_collection: 'other' }) }),
      'no relation': of({ relations: without(relations, many) }),
      'another relation': of({ relations: without(relations, many).set('other', relation) }),
    };
    for (const [what, other] of Object.entries(others)) {
      expect(isSameNode(of({}), other), what).to.equal(false);
      expect(isSameNode(other, of({})), what).to.equal(false);
    }
  });
});
