/**
 * Schemas committed by real projects. Skipped without the corpus. Failed trimmings are stored in
 * fixtures/trimmings.json and replayed first. The members themselves are stored, because a seed changes its meaning
 * with the generator.
 */
import { inManagedSchemas } from '../../../src/http/errors.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../../src/kernel/json.js';
import type { Collection, Field, Relation } from '../../../src/schema/model/model.js';
import {
  checkJson,
  mergeCollection,
  mergeField,
  mergeRelation,
  readNewCollection,
  readNewField,
  readNewRelation,
} from '../../../src/schema/normal-form/index.js';
import { initialState } from '../../../src/schema/model/state.js';
import { FORCED, sent, STRICT, valueOf } from '../normal-form/read.js';
import { importInto, NOTHING, read } from './read.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { FOLDER as CORPUS } from '../../corpus/corpus.js';
import { limitRuns } from '../../support/runs.js';

const RUNS = Number(process.env['TRIMMINGS'] ?? limitRuns(5).numRuns);
const FIXTURES = new URL('../../fixtures/trimmings.json', import.meta.url);
const known = JSON.parse(readFileSync(FIXTURES, 'utf8')) as Record<string, MemberPath[][]>;

type Members = Record<string, unknown>;

/** The normal forms of a file by name. */
interface Schema {
  collections: Map<string, Collection>;
  fields: Map<string, Field>;
  relations: Map<string, Relation>;
}

const nameOf = (...names: unknown[]): string => names.map(String).join('\0');

function schemaOf(file: object): Schema {
  const { collections, fields, relations } = read(file);
  return {
    collections: new Map(
      collections.map((each) => [nameOf(each['collection']), valueOf(readNewCollection(each, [], FORCED))]),
    ),
    fields: new Map(
      fields.map((each) => [nameOf(each['collection'], each['field']), valueOf(readNewField(each, [], FORCED))]),
    ),
    relations: new Map(
      relations.map((each, index) => [
        nameOf(each['many_collection'], each['many_field']),
        { id: index + 1, ...valueOf(readNewRelation(each, [], FORCED)) },
      ]),
    ),
  };
}

/** The location of a trimmed member: `['fields', 12, 'schema', 'data_type']`. */
type MemberPath = (string | number)[];

/** Some members that people may trim by hand, except those that identify the document. */
function trimmingOf(file: Members, seed: number): MemberPath[] {
  const random = randomFrom(seed);
  const places: MemberPath[] = [];
  const trim = (document: unknown, at: MemberPath, kept: string[]): void => {
    if (!isObject(document)) return;
    for (const member of Object.keys(document)) {
      if (!kept.includes(member) && random() < 0.15) places.push([...at, member]);
    }
  };
  for (const part of ['collections', 'fields', 'relations']) {
    for (const [index, document] of (file[part] as Members[]).entries()) {
      trim(document['meta'], [part, index, 'meta'], []);
      trim(document['schema'], [part, index, 'schema'], []);
      // If the instance has no such relation, nothing else names its target.
      const isLeftOut = String(document['related_collection']).startsWith('directus_');
      trim(document, [part, index], ['collection', 'field', ...(isLeftOut ? ['related_collection'] : [])]);
    }
  }
  return places;
}

function trimmed(file: Members, trimming: MemberPath[]): Members {
  const copy = sent(file);
  for (const place of trimming) {
    const holder = place.slice(0, -1).reduce<unknown>((at, member) => (at as Members | undefined)?.[member], copy);
    if (isObject(holder)) delete holder[String(place.at(-1))];
  }
  return copy;
}

/** mulberry32, so that fast-check's findings are reproducible. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const files = existsSync(CORPUS)
  ? (readdirSync(CORPUS, { recursive: true }) as string[]).filter((name) => name.endsWith('.yaml')).sort()
  : [];

(files.length === 0 ? describe.skip : describe)('the corpus', () => {
  for (const name of files) {
    describe(name, () => {
      const file = load(readFileSync(join(CORPUS, name), 'utf8')) as Members;
      // The HTTP layer removes the name of the default schema.
      before(() => inManagedSchemas(file, ['public'], { force: true }));

      it('reads completely into documents that are valid without force', () => {
        expect(runToEnd(checkJson(file)).problems).to.deep.equal([]);
        const { collections, fields, relations } = read(file);
        const system = (document: Members) => String(document['collection']).startsWith('directus_');
        expect(collections).to.have.length((file['collections'] as Members[]).length);
        expect(fields).to.have.length((file['fields'] as Members[]).filter((field) => !system(field)).length);
        for (const each of collections) valueOf(readNewCollection({ schema: null, ...each }, [], STRICT));
        for (const each of fields) valueOf(readNewField(each, [], STRICT));
        for (const each of relations) valueOf(readNewRelation(each, [], STRICT));
      });

      it('names everything it skipped', () => {
        const { relations, warnings } = read(file);
        const left = warnings.filter((warning) => warning.startsWith('RELATION_LEFT_OUT'));
        expect(left.length + relations.length).to.equal((file['relations'] as Members[]).length);
        const known = /^(RELATION_LEFT_OUT|SYSTEM_FIELD_LEFT_OUT|TYPE_CHANGED) /;
        expect(warnings.filter((warning) => !known.test(warning))).to.deep.equal([]);
      });

      it('gives the same result again, and changes nothing after it was applied', () => {
        const first = schemaOf(file);
        expect(schemaOf(sent(file))).to.deep.equal(first);
        expectUnchanged(file, first);
      });

      it('changes nothing if members were removed by hand', () => {
        const state = importInto(initialState(), file, 'mirror').state;
        const trimming = fc.integer().map((seed) => trimmingOf(file, seed));
        const examples = (known[name] ?? []).map((each): [MemberPath[]] => [each]);
        const property = fc.property(trimming, (places) => {
          const again = trimmed(file, places);
          for (const mode of ['mirror', 'merge'] as const) {
            expect(importInto(state, again, mode).diff, mode).to.deep.equal(NOTHING);
          }
        });
        fc.assert(property, { numRuns: RUNS + examples.length, examples });
      });
    });
  }

  function expectUnchanged(file: object, schema: Schema): void {
    const again = read(file);
    for (const each of again.collections) {
      const existing = schema.collections.get(nameOf(each['collection'])) as Collection;
      expect(valueOf(mergeCollection(existing, each, [], FORCED))).to.equal(existing);
    }
    for (const each of again.fields) {
      const existing = schema.fields.get(nameOf(each['collection'], each['field'])) as Field;
      expect(valueOf(mergeField(existing, each, [], FORCED)), JSON.stringify(each)).to.equal(existing);
    }
    expect(again.relations).to.have.length(schema.relations.size);
    for (const each of again.relations) {
      const existing = schema.relations.get(nameOf(each['many_collection'], each['many_field'])) as Relation;
      expect(valueOf(mergeRelation(existing, each, [], FORCED)), JSON.stringify(each)).to.equal(existing);
    }
  }
});
