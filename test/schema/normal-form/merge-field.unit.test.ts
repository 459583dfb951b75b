import { expect } from 'chai';
import type { Field } from '../../../src/schema/model/model.js';
import { changed, faultsOf, field, FORCED, sent, valueOf } from './read.js';

const make = (type: string, schema: Record<string, unknown> = {}, meta: Record<string, unknown> = {}): Field =>
  valueOf(field({ type, schema: type === 'alias' ? null : schema, meta }));

const schemaAfter = (existing: Field, input: Record<string, unknown>) => valueOf(changed(existing, input)).schema;

describe('field updates', () => {
  it('return the same field if they change nothing', () => {
    const existing = make(
      'json',
      { default_value: { a: [1] } },
      { options: { choices: [{ text: 'A' }] }, special: ['x'] },
    );
    expect(valueOf(changed(existing, {}))).to.equal(existing);
    expect(valueOf(changed(existing, { meta: null }))).to.equal(existing);
    expect(valueOf(changed(existing, sent(existing) as never))).to.equal(existing);
    const shown = {
      name: 'title',
      table: 'articles',
      is_generated: false,
      foreign_key_table: 'x',
      foreign_key_column: null,
    };
    const { schema, meta, ...rest } = sent(existing);
    const document = {
      ...rest,
      meta: { collection: 'articles', field: 'title', ...meta },
      schema: { ...schema, ...shown },
    };
    expect(valueOf(changed(existing, document))).to.equal(existing);
    expect(valueOf(changed(existing, { schema: { data_type: 'JSON' } }))).to.equal(existing);
  });

  it('overwrite present members only', () => {
    const existing = make(
      'string',
      { max_length: 50, is_unique: true, default_value: 'a' },
      { note: 'n', options: { a: 1 } },
    );
    const now = valueOf(changed(existing, { meta: { options: { b: 2 } }, schema: { is_nullable: false } }));
    expect(now.meta).to.deep.equal({ ...existing.meta, options: { b: 2 } });
    expect(now.schema).to.deep.equal({ ...existing.schema, is_nullable: false });
    expect(existing.meta.options).to.deep.equal({ a: 1 });
  });

  it('reset type properties when the type changes', () => {
    expect(schemaAfter(make('string', { max_length: 50, is_unique: true }), { type: 'text' })).to.include({
      data_type: 'text',
      max_length: null,
      is_unique: true,
    });
    expect(schemaAfter(make('text'), { type: 'string' })).to.include({ max_length: 255 });
    expect(schemaAfter(make('integer'), { type: 'decimal', schema: { numeric_scale: 2 } })).to.include({
      numeric_precision: 10,
      numeric_scale: 2,
    });
    // A table that no longer accepts inserts must be reported.
    const counting = make('integer', { has_auto_increment: true });
    expect(faultsOf(changed(counting, { type: 'uuid' })).join()).to.include('has_auto_increment');
    expect(schemaAfter(counting, { type: 'uuid', schema: { has_auto_increment: false } })).to.include({
      has_auto_increment: false,
    });
    expect(schemaAfter(make('integer', { has_auto_increment: true }), { type: 'bigInteger' })).to.include({
      has_auto_increment: true,
      data_type: 'bigint',
    });
  });

  it('keep the length while the data type changes within a type', () => {
    expect(schemaAfter(make('string', { max_length: 50 }), { schema: { data_type: 'char' } })).to.include({
      data_type: 'character',
      max_length: 50,
    });
    expect(
      faultsOf(changed(make('string', { max_length: null }), { schema: { data_type: 'char' } })).join(),
    ).to.include('max_length');
    expect(
      schemaAfter(make('decimal', { numeric_precision: 8, numeric_scale: 2 }), { schema: { numeric_precision: 9 } }),
    ).to.include({ numeric_precision: 9, numeric_scale: 2 });
    const unlimited = make('decimal', { numeric_precision: null });
    expect(schemaAfter(unlimited, { schema: { is_nullable: false } })).to.include({
      numeric_precision: null,
      numeric_scale: null,
      is_nullable: false,
    });
    expect(schemaAfter(unlimited, { schema: { numeric_precision: 12 } })).to.include({
      numeric_precision: 12,
      numeric_scale: 5,
    });
  });

  it('keep the default if the new type supports it', () => {
    expect(schemaAfter(make('integer', { default_value: 5 }), { type: 'string' })).to.include({ default_value: '5' });
    expect(schemaAfter(make('string', { default_value: '5' }), { type: 'integer' })).to.include({ default_value: 5 });
    expect(schemaAfter(make('dateTime', { default_value: 'now()' }), { type: 'timestamp' })).to.include({
      default_value: 'now()',
    });
  });

  it('require a new default if the present one does not fit', () => {
    const cases: [Field, Record<string, unknown>][] = [
      [make('string', { default_value: 'abc' }), { type: 'integer' }],
      [make('string', { default_value: 'now()' }), { type: 'timestamp' }],
      [make('timestamp', { default_value: 'now()' }), { type: 'string' }],
      [make('string', { default_value: 'abc' }), { schema: { max_length: 2 } }],
      [make('json', { default_value: { a: 1 } }), { type: 'text' }],
    ];
    for (const [existing, input] of cases) {
      expect(faultsOf(changed(existing, input)).join()).to.include('which does not fit: send a default_value');
      const schema = { ...(input['schema'] as object), default_value: null };
      expect(schemaAfter(existing, { ...input, schema })).to.include({ default_value: null });
    }
  });

  it('drop the default when they change to or from auto-increment or a generated column', () => {
    expect(schemaAfter(make('integer', { default_value: 5 }), { schema: { has_auto_increment: true } })).to.include({
      default_value: null,
    });
    expect(
      schemaAfter(make('integer', { default_value: 5 }), { schema: { generation_expression: 'a + 1' } }),
    ).to.include({ default_value: null });
    expect(
      schemaAfter(make('integer', { generation_expression: 'a' }), {
        schema: { generation_expression: null, default_value: 5 },
      }),
    ).to.include({ default_value: 5 });
    expect(
      faultsOf(changed(make('integer', { has_auto_increment: true }), { schema: { default_value: 5 } })).join(),
    ).to.include('auto increment');
  });

  it('leave a plain column when they remove a primary key', () => {
    const key = make('integer', { is_primary_key: true });
    expect(schemaAfter(key, { schema: { is_primary_key: false } })).to.include({
      is_primary_key: false,
      is_unique: false,
      is_nullable: false,
    });
    const stays = { is_primary_key: true, is_nullable: false, is_unique: true, is_indexed: false };
    expect(schemaAfter(key, { schema: stays })).to.equal(key.schema);
    expect(faultsOf(changed(key, { schema: { is_nullable: true } })).join()).to.include('is_nullable must be false');
  });

  it('convert columns to aliases and back', () => {
    expect(valueOf(changed(make('text'), { type: 'alias', schema: null }))).to.include({ type: 'alias', schema: null });
    expect(valueOf(changed(make('text'), { type: 'alias' })).schema).to.equal(null);
    expect(schemaAfter(make('alias'), { type: 'string' })).to.include({
      data_type: 'character varying',
      max_length: 255,
    });
    expect(faultsOf(changed(make('text'), { schema: null })).join()).to.include('schema must be an object');
    expect(faultsOf(changed(make('alias'), { schema: {} })).join()).to.include('schema must be null');
  });

  it('reject the data type of a different type, and renames', () => {
    expect(faultsOf(changed(make('string'), { schema: { data_type: 'integer' } })).join()).to.include(
      'for type string',
    );
    expect(faultsOf(changed(make('string'), { field: 'other' })).join()).to.include('cannot be renamed here');
    expect(faultsOf(changed(make('string'), { collection: 'other' })).join()).to.include('cannot be renamed here');
    expect(faultsOf(changed(make('string'), { bogus: 1 })).join()).to.include('not a known member');
    expect(faultsOf(changed(make('string'), [] as never)).join()).to.include('JSON object');
  });

  it("keep the type if another vendor's document is incomplete", () => {
    const csv = make('csv');
    expect(valueOf(changed(csv, { schema: { data_type: 'text', max_length: 65535 } }, FORCED))).to.equal(csv);
    const binary = make('binary');
    expect(valueOf(changed(binary, { type: 'unknown' }, FORCED))).to.equal(binary);
    expect(
      valueOf(
        changed(
          make('string', { max_length: 36 }),
          { type: 'uuid', schema: { data_type: 'char', max_length: 36 } },
          FORCED,
        ),
      ).schema,
    ).to.include({ data_type: 'uuid', max_length: null });
  });
});
