import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { z } from 'zod';
import { checksOf } from '../../../src/schema/normal-form/checks.js';
import * as model from '../../../src/schema/model/model.js';
import { FOLD_FORMAT, OMITTED } from '../../../src/reads/stored-folds.js';
import { DISPLAYS, INTERFACES } from '../../../src/web/editing/interfaces.js';
import {
  COLLECTION_SECTIONS,
  COLUMN_FLAGS,
  COLUMN_TEXTS,
  COLUMN_TYPE,
  FIELD_SECTIONS,
  FOREIGN_KEY_MEMBERS,
  GERMAN,
  RELATION_MEMBERS,
} from '../../../src/web/editing/members.js';
import { documentOfRoutes } from '../../support/openapi.js';

const SRC = join(import.meta.dirname, '../../../src');

const { collectionMeta, fieldMeta, columnSchema, relationMembers } = model;
const membersOf = (document: z.ZodObject): string[] => model.membersOf(document);

/** Members whose check or value depends on the others. */
const IDENTITY = ['id', 'many_collection', 'many_field'];
const OF_THE_TYPE = ['data_type', 'default_value', 'max_length', 'numeric_precision', 'numeric_scale', 'extras'];

describe('the description of a document', () => {
  it('gives a value to each member of a new document', () => {
    expect(Object.keys(model.COLLECTION_META_DEFAULTS)).to.deep.equal(membersOf(collectionMeta));
    expect(Object.keys(model.FIELD_META_DEFAULTS)).to.deep.equal(membersOf(fieldMeta));
    expect(['data_type', ...Object.keys(model.COLUMN_DEFAULTS), 'extras']).to.deep.equal(membersOf(columnSchema));
    expect([...IDENTITY, ...Object.keys(model.RELATION_META_DEFAULTS)]).to.deep.equal(membersOf(relationMembers));
    expect(collectionMeta.parse(model.COLLECTION_META_DEFAULTS)).to.deep.equal(model.COLLECTION_META_DEFAULTS);
    expect(fieldMeta.parse(model.FIELD_META_DEFAULTS)).to.deep.equal(model.FIELD_META_DEFAULTS);
  });

  it('checks each member, except those that depend on others', () => {
    expect([...checksOf(collectionMeta).keys()]).to.deep.equal(membersOf(collectionMeta));
    expect([...checksOf(fieldMeta).keys()]).to.deep.equal(membersOf(fieldMeta));
    const unchecked = (document: z.ZodObject) => membersOf(document).filter((name) => !checksOf(document).has(name));
    expect(unchecked(columnSchema)).to.deep.equal(OF_THE_TYPE);
    expect(unchecked(relationMembers)).to.deep.equal(IDENTITY);
  });

  it('gives each member of the metadata one input in a form', () => {
    const inputs = (sections: typeof FIELD_SECTIONS) =>
      sections.flatMap(({ members }) => members.map(({ path }) => path)).filter((path) => path.startsWith('meta.'));
    const paths = (document: z.ZodObject) => membersOf(document).map((name) => `meta.${name}`);
    expect(inputs(COLLECTION_SECTIONS)).to.have.members(paths(collectionMeta));
    expect(inputs(FIELD_SECTIONS)).to.have.members(paths(fieldMeta));
  });

  it('has a German text for each English text that the forms of the app show', () => {
    const sections = [...COLLECTION_SECTIONS, ...FIELD_SECTIONS];
    const columns = [...COLUMN_TYPE, ...COLUMN_FLAGS, ...COLUMN_TEXTS, ...RELATION_MEMBERS, ...FOREIGN_KEY_MEMBERS];
    const members = [...sections.flatMap((section) => section.members), ...columns];
    const described = [...Object.values(INTERFACES), ...Object.values(DISPLAYS)];
    const texts = [
      ...sections.map(({ title }) => title),
      ...members.flatMap(({ label, help = label, options = [] }) => [
        label,
        help,
        ...options.flatMap((each) => (typeof each === 'string' ? [] : [each.label])),
      ]),
      ...described.flatMap(({ label, options }) => [label, ...options.map((each) => each.label)]),
    ];
    expect(Object.keys(GERMAN)).to.have.members([...new Set(texts)]);
  });

  it('is the description of the API, in the order of responses', () => {
    const { schemas } = documentOfRoutes().components as unknown as {
      schemas: Record<string, { properties: Record<string, unknown> }>;
    };
    const described = (name: string) => Object.keys(schemas[name]?.properties ?? {});
    expect(described('CollectionMeta')).to.deep.equal(membersOf(model.collectionMetaDocument));
    expect(described('FieldMeta')).to.deep.equal(membersOf(model.fieldMetaDocument));
    expect(described('Column')).to.deep.equal(membersOf(model.columnDocument));
    expect(described('Relation')).to.deep.equal(membersOf(model.relationDocument));
    expect(described('CollectionMetaInput')).to.include.members(membersOf(model.collectionMetaDocument));
    expect(described('FieldMetaInput')).to.include.members(membersOf(model.fieldMetaDocument));
    expect(described('ColumnInput')).to.include.members(membersOf(model.columnDocument));
    expect(described('RelationInput')).to.include.members(membersOf(relationMembers));
  });

  it('is not repeated by a file that names all members of a document', () => {
    const FILES: Readonly<Record<string, string>> = {
      'schema/model/model.ts': 'the description',
      'client/api.ts': 'generated from the routes',
      'schema/fold/event-schemas.ts': 'released events never change',
      'schema/normal-form/column.ts': 'computes each member of a column from a request',
      'projector/inheritance/child-events.ts': 'lists the members that PostgreSQL changes in child tables',
      'projector/inspect/column.ts': 'computes each member of a column from the catalog',
      'schema/import/documents.ts': 'reads each member from files of other systems',
      'projector/metadata/rows.ts': 'SQL: the columns of service_relations',
      'projector/metadata/rebuild.ts': 'SQL: the columns of service_relations',
      'projector/verify/index.ts': 'SQL: the columns of service_relations',
      'web/editing/column-defaults.ts': 'resets the members that depend on the type',
    };
    const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
    const repeating = files.filter((file) => {
      const words = new Set(readFileSync(join(SRC, file), 'utf8').match(/\w+/g));
      return [collectionMeta, fieldMeta, columnSchema, relationMembers].some((document) =>
        membersOf(document).every((name) => words.has(name)),
      );
    });
    expect(repeating.map((file) => file.replaceAll('\\', '/'))).to.have.members(Object.keys(FILES));
  });
});

describe('the omitted values of stored folds', () => {
  /** Each change of this value needs a new FOLD_FORMAT, because the values are part of the stored text. */
  it('are those of format 3', () => {
    const hash = createHash('sha256').update(JSON.stringify(OMITTED)).digest('hex');
    expect({ format: FOLD_FORMAT, hash }).to.deep.equal({
      format: 3,
      hash: '853586ac774ce260ddb16c20da9149aff2f6d7a8127e3f472af85d6a3128fc87',
    });
  });
});
