import { expect } from 'chai';
import {
  adoptLocations,
  collectionLocations,
  fieldLocations,
  relationLocations,
  requestLocation,
} from '../../../src/schema/operations/operation.js';
import { type DocumentLocation } from '../../../src/kernel/locate.js';
import { renderPath } from '../../../src/kernel/problem.js';

const renderLocation = (place: DocumentLocation | undefined, ...member: string[]): string | undefined =>
  place && renderPath([...place.at, ...place.stepsTo(member)]);

describe('locations in requests', () => {
  it('point to meta members where they were sent: in meta or at the top', () => {
    const CASES: [body: unknown, member: string[], place: string][] = [
      [{ meta: { icon: 'x' } }, ['meta', 'icon'], 'meta.icon'],
      [{ icon: 'x' }, ['meta', 'icon'], 'icon'],
      [{ meta: { icon: 'x' }, icon: 'y' }, ['meta', 'icon'], 'meta.icon'],
      [{ meta: {}, icon: 'y' }, ['meta', 'icon'], 'icon'],
      [{ meta: {} }, ['meta', 'icon'], 'meta.icon'],
      [{ meta: null, icon: 'y' }, ['meta', 'icon'], 'icon'],
      [{}, ['meta', 'icon'], 'meta'],
      [{ translation: { de: 'x' } }, ['meta', 'translations'], 'translation'],
      [{ translation: { de: 'x' } }, ['meta', 'translations', 'de'], 'translation.de'],
      [{ translations: [], translation: {} }, ['meta', 'translations'], 'translations'],
      [{ translation: {} }, ['meta', 'icon'], 'meta'],
      [{ icon: 'x', schema: { comment: 'y' } }, ['schema', 'comment'], 'schema.comment'],
      [{ icon: 'x' }, ['meta'], 'meta'],
      ['text', ['meta', 'icon'], ''],
    ];
    for (const [body, member, place] of CASES) {
      expect(renderLocation(requestLocation([], body), ...member), JSON.stringify(body)).to.equal(place);
    }
    expect(renderLocation(requestLocation([3], { icon: 'x' }), 'meta', 'icon')).to.equal('[3].icon');
  });

  it('point to the first collection or field with the name', () => {
    const places = collectionLocations([
      { collection: 'a', body: { fields: ['text', { field: 'b', meta: {} }, { field: 'b' }] }, at: [0] },
      { collection: 'c', body: {}, at: [1] },
      { collection: 'a', body: { fields: [{ field: 'z' }] }, at: [2] },
    ]);
    expect(renderLocation(places.collection?.('a'))).to.equal('[0]');
    expect(renderLocation(places.collection?.('c'))).to.equal('[1]');
    expect(places.collection?.('gone')).to.equal(undefined);
    expect(renderLocation(places.field?.('a', 'b'), 'meta', 'icon')).to.equal('[0].fields[1].meta.icon');
    expect(places.field?.('a', 'z')).to.equal(undefined);
    expect(places.field?.('c', 'b')).to.equal(undefined);
    expect(places.field?.('gone', 'b')).to.equal(undefined);
  });

  it('are the given ones for fields, a relation and adopted tables', () => {
    const fields = fieldLocations('a', [{ field: 'b', body: { type: 'string' }, at: [4] }]);
    expect(renderLocation(fields.field?.('a', 'b'), 'type')).to.equal('[4].type');
    expect([fields.field?.('a', 'c'), fields.field?.('x', 'b')]).to.deep.equal([undefined, undefined]);
    const relation = relationLocations('a', 'b', { schema: {} });
    expect(renderLocation(relation.relation?.('a', 'b'), 'schema', 'on_delete')).to.equal('schema.on_delete');
    expect([relation.relation?.('a', 'c'), relation.relation?.('x', 'b')]).to.deep.equal([undefined, undefined]);
    const tables = adoptLocations(['a', 'b']);
    expect([renderLocation(tables.collection?.('a')), renderLocation(tables.collection?.('b'))]).to.deep.equal([
      'tables[0]',
      'tables[1]',
    ]);
    expect(tables.collection?.('c')).to.equal(undefined);
  });
});
