import { expect } from 'chai';
import fc from 'fast-check';
import { FIELD_WIDTHS, type Relation } from '../../../src/schema/model/model.js';
import {
  mergeCollection,
  mergeField,
  mergeRelation,
  readNewCollection,
  readNewField,
  readNewRelation,
} from '../../../src/schema/normal-form/index.js';
import { type GivenColumn, givenColumn, text } from './generate.js';
import { FORCED, sent, STRICT, valueOf } from './read.js';

const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const object = fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3, noNullPrototype: true });

const fieldMeta = fc.record(
  {
    special: nullable(fc.array(text, { maxLength: 3 })),
    interface: nullable(text),
    options: nullable(object),
    display_options: nullable(object),
    readonly: fc.boolean(),
    hidden: fc.boolean(),
    sort: nullable(fc.integer()),
    width: nullable(fc.constantFrom(...FIELD_WIDTHS)),
    translations: nullable(fc.oneof(object, fc.array(object, { maxLength: 2 }))),
    note: nullable(text),
    conditions: nullable(fc.oneof(object, fc.array(object, { maxLength: 2 }))),
    group: nullable(text.filter((value) => value !== '')),
    required: fc.boolean(),
    validation: nullable(object),
    validation_message: nullable(text),
  },
  { requiredKeys: [], noNullPrototype: true },
);

const columnFlags = fc.record(
  {
    is_nullable: fc.boolean(),
    is_unique: fc.boolean(),
    is_indexed: fc.boolean(),
    is_primary_key: fc.boolean(),
    comment: nullable(text),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** A key cannot be changed to contradict itself. */
function withoutContradiction(schema: Record<string, unknown>): object {
  const { is_nullable: _, is_unique: __, is_indexed: ___, ...rest } = schema;
  return schema['is_primary_key'] === true ? rest : schema;
}

const document = fc
  .tuple(fieldMeta, givenColumn, columnFlags)
  .map(([meta, { type, schema }, flags]: [object, GivenColumn, object]) => ({
    collection: 'articles',
    field: 'title',
    type,
    meta,
    schema: withoutContradiction({ ...flags, ...schema }),
  }))
  .map(sent);

const collectionMeta = fc.record(
  {
    icon: nullable(text),
    hidden: fc.boolean(),
    translations: nullable(fc.oneof(object, fc.array(object, { maxLength: 2 }))),
    archive_app_filter: fc.constantFrom<unknown>(true, false, 'true', 'false'),
    accountability: fc.constantFrom('all', 'activity', null),
    item_duplication_fields: nullable(fc.array(text, { maxLength: 2 })),
    sort: nullable(fc.integer()),
    collapse: fc.constantFrom('open', 'closed', 'locked'),
    versioning: fc.boolean(),
  },
  { requiredKeys: [], noNullPrototype: true },
);

const foreignKey = fc.record(
  { constraint_name: fc.constantFrom('a', 'a b', '"'), on_delete: fc.constantFrom('CASCADE', 'SET NULL') },
  { requiredKeys: [], noNullPrototype: true },
);

/** Some of the members, or all of a normal form. */
function pickMembers(value: object, keep: number): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter((_, index) => ((keep >> index) & 1) === 1));
}

describe('the normal form', () => {
  it('is idempotent for a field, and merging it changes nothing', () => {
    fc.assert(
      fc.property(document, (input) => {
        const normal = valueOf(readNewField(input, [], STRICT));
        expect(valueOf(readNewField(sent(normal), [], STRICT))).to.deep.equal(normal);
        expect(valueOf(readNewField(sent(normal), [], FORCED))).to.deep.equal(normal);
        expect(valueOf(mergeField(normal, sent(normal), [], STRICT))).to.equal(normal);
        expect(valueOf(mergeField(normal, sent(input), [], STRICT))).to.equal(normal);
      }),
      { numRuns: 500 },
    );
  });

  it('is reached from any field of its type, completely or in parts', () => {
    let halfways = 0;
    fc.assert(
      fc.property(document, document, fc.nat(), fc.nat(), (before, after, metaPart, schemaPart) => {
        const from = valueOf(readNewField(before, [], STRICT));
        const to = valueOf(readNewField(after, [], STRICT));
        const full = sent(to);
        expect(valueOf(mergeField(from, full, [], STRICT))).to.deep.equal(to);
        const part = { meta: pickMembers(to.meta, metaPart), schema: pickMembers(to.schema ?? {}, schemaPart) };
        const merged = mergeField(to, sent(part), [], STRICT);
        expect(valueOf(merged)).to.equal(to);
        if (from.type !== to.type) return;
        const halfway = mergeField(from, sent(part), [], STRICT);
        if (!halfway.ok) return;
        halfways += 1;
        expect(valueOf(mergeField(halfway.value, full, [], STRICT))).to.deep.equal(to);
      }),
      { numRuns: 300 },
    );
    expect(halfways, 'parts that were taken').to.be.above(10);
  });

  it('is idempotent for a collection', () => {
    fc.assert(
      fc.property(collectionMeta, fc.constantFrom(null, {}, { comment: 'c' }, { comment: '' }), (meta, schema) => {
        const input = sent({ collection: 'articles', meta, schema });
        const normal = valueOf(readNewCollection(input, [], STRICT));
        expect(valueOf(readNewCollection(sent(normal), [], STRICT))).to.deep.equal(normal);
        expect(valueOf(mergeCollection(normal, sent(normal), [], STRICT))).to.equal(normal);
        expect(valueOf(mergeCollection(normal, sent(input), [], STRICT))).to.equal(normal);
      }),
    );
  });

  it('is idempotent for a relation', () => {
    fc.assert(
      fc.property(nullable(foreignKey), nullable(text.filter((value) => value !== '')), (schema, one_field) => {
        const input = { many_collection: 'a', many_field: 'b', one_collection: 'c', one_field, schema };
        const normal = valueOf(readNewRelation(input, [], STRICT));
        expect(valueOf(readNewRelation(sent(normal), [], STRICT))).to.deep.equal(normal);
        const stored: Relation = { id: 1, ...normal };
        expect(valueOf(mergeRelation(stored, sent(stored), [], STRICT))).to.equal(stored);
        expect(valueOf(mergeRelation(stored, sent(input), [], STRICT))).to.equal(stored);
      }),
    );
  });

  it('is returned or rejected, but never throws', () => {
    const hostile = fc.jsonValue({ maxDepth: 4 });
    const members = [
      'collection',
      'field',
      'type',
      'meta',
      'schema',
      'one_collection',
      'many_field',
      '__proto__',
      'constructor',
    ];
    const right = fc.record(
      {
        collection: fc.constant('articles'),
        field: fc.constant('title'),
        type: fc.constantFrom('string', 'integer'),
        meta: fc.constantFrom(null, {}),
        schema: fc.constantFrom(null, {}),
      },
      { requiredKeys: ['collection'] },
    );
    const documents = fc.oneof(right, hostile, fc.dictionary(fc.constantFrom(...members), hostile));
    const outcomes = { reached: 0, refused: 0 };
    fc.assert(
      fc.property(documents, fc.boolean(), (input, imported) => {
        for (const read of [readNewCollection, readNewField, readNewRelation]) {
          const result = read(input, [], { imported });
          outcomes[result.ok ? 'reached' : 'refused'] += 1;
          if (result.ok) expect(valueOf<unknown>(read(sent(result.value), [], STRICT))).to.deep.equal(result.value);
          else for (const { code, message } of result.problems) expect([code, message]).to.not.include('');
        }
      }),
      { numRuns: 500 },
    );
    expect(outcomes.reached, 'inputs that were right').to.be.above(10);
    expect(outcomes.refused, 'inputs that were wrong').to.be.above(10);
  });
});
