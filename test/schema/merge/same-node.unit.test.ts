import { expect } from 'chai';
import { isSameNode } from '../../../src/schema/merge/rename-sides.js';
import type { CollectionNode } from '../../../src/schema/model/state.js';
import { withRelations } from '../../support/library.js';

const [node] = [...withRelations().collections.values()].filter(({ relations }) => relations.size > 0);
const nodeWith = (changed: Partial<CollectionNode>): CollectionNode => ({ ...(node as CollectionNode), ...changed });

const { collection, fields, relations } = nodeWith({});
const [[name, field]] = [...fields] as [[string, NonNullable<ReturnType<typeof fields.get>>]];
const [[many, relation]] = [...relations] as [[string, NonNullable<ReturnType<typeof relations.get>>]];

describe('comparing a collection in two states', () => {
  it('finds copies and relations with other ids equal', () => {
    expect(isSameNode(nodeWith({}), nodeWith({}))).to.equal(true);
    expect(isSameNode(nodeWith({}), structuredClone(nodeWith({})))).to.equal(true);
    expect(
      isSameNode(nodeWith({}), nodeWith({ relations: new Map(relations).set(many, { ...relation, id: 999 }) })),
    ).to.equal(true);
  });

  it('finds any difference and missing object', () => {
    const without = <V>(map: ReadonlyMap<string, V>, key: string) => new Map([...map].filter(([each]) => each !== key));
    const others: Record<string, CollectionNode> = {
      collection: nodeWith({ collection: { ...collection, meta: { ...collection.meta, note: 'other' } } }),
      field: nodeWith({ fields: new Map(fields).set(name, { ...field, meta: { ...field.meta, note: 'other' } }) }),
      'no field': nodeWith({ fields: without(fields, name) }),
      'another field': nodeWith({ fields: without(fields, name).set('other', field) }),
      relation: nodeWith({ relations: new Map(relations).set(many, { ...relation, one_collection: 'other' }) }),
      'no relation': nodeWith({ relations: without(relations, many) }),
      'another relation': nodeWith({ relations: without(relations, many).set('other', relation) }),
    };
    for (const [what, other] of Object.entries(others)) {
      expect(isSameNode(nodeWith({}), other), what).to.equal(false);
      expect(isSameNode(other, nodeWith({})), what).to.equal(false);
    }
  });
});
