/**
 * The result of each kind of value at each location of each operation's body: rejected with code, location and
 * message, or accepted with its events. Compared with `test/fixtures/answers.txt`.
 */
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { readResolutions } from '../../../src/schema/merge/model.js';
import type { OperationName } from '../../../src/schema/operations/index.js';
import { readRestoreRequest } from '../../../src/schema/operations/trash.js';
import type { State } from '../../../src/schema/model/state.js';
import { snapshotHash, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { type AnsweredRequest, exampleSchema, toPlainJson, sectionOf } from '../../support/answers.js';
import { attempt, parsed } from '../../support/given.js';
import { createTranscript } from '../../support/transcript.js';

const RELEASE = '0.1.0';
function asking<N extends OperationName>(
  state: State,
  name: N,
  { title = name, of, body }: { title?: string; of: object; body: unknown },
): AnsweredRequest {
  return { title, body, ask: (input) => attempt(state, name, { ...of, body: input } as never) };
}

describe('the response to each value at each location', () => {
  it('matches the recorded result', async () => {
    const state = exampleSchema();
    const hash = runToEnd(snapshotHash(state, RELEASE));
    const snapshot = toPlainJson(runToEnd(snapshotOf(state, RELEASE))) as Record<string, unknown[]>;
    const flow = { concurrentIndexes: false };
    const sections: AnsweredRequest[] = [
      asking(state, 'create-collection', {
        of: flow,
        body: {
          collection: 'notes',
          meta: {
            note: 'n',
            icon: 'i',
            hidden: true,
            singleton: false,
            sort: 3,
            translations: [{ language: 'de-DE' }],
          },
          schema: { name: 'notes', comment: 'c' },
          fields: [
            { field: 'key', type: 'uuid', interface: 'input', schema: { is_primary_key: true }, meta: { note: 'n' } },
          ],
        },
      }),
      asking(state, 'update-collection', {
        of: { collection: 'posts' },
        body: {
          collection: 'posts',
          meta: { note: 'n', sort: 2, accountability: 'all' },
          schema: { name: 'posts', comment: null },
        },
      }),
      {
        ...asking(state, 'create-collections', {
          of: flow,
          body: [
            { collection: 'one', schema: {} },
            { collection: 'two', schema: null },
          ],
        }),
        isList: true,
      },
      asking(state, 'update-collections', { of: {}, body: [{ collection: 'posts', meta: { hidden: true } }] }),
      asking(state, 'rename-collection', { of: { collection: 'posts' }, body: { to: 'articles' } }),
      asking(state, 'rename-field', { of: { collection: 'posts', field: 'title' }, body: { to: 'headline' } }),
      asking(state, 'create-field', {
        of: { collection: 'posts', ...flow },
        body: {
          field: 'summary',
          type: 'string',
          meta: { interface: 'input', options: { a: 1 }, required: true, special: ['x'], width: 'half', sort: 2 },
          schema: {
            name: 'summary',
            table: 'posts',
            data_type: 'character varying',
            default_value: 'x',
            max_length: 50,
            numeric_precision: null,
            numeric_scale: null,
            is_nullable: true,
            is_unique: false,
            is_indexed: true,
            is_primary_key: false,
            is_generated: false,
            generation_expression: null,
            has_auto_increment: false,
            foreign_key_table: null,
            foreign_key_column: null,
            comment: 'c',
          },
        },
      }),
      asking(state, 'create-field', {
        title: 'create-field of a decimal',
        of: { collection: 'posts', ...flow },
        body: {
          field: 'rate',
          type: 'decimal',
          interface: 'input',
          schema: { numeric_precision: 9, numeric_scale: 3, default_value: 1.5 },
        },
      }),
      asking(state, 'create-field', {
        title: 'create-field of an alias',
        of: { collection: 'posts', ...flow },
        body: { field: 'notice', type: 'alias', interface: 'input', schema: null, meta: { special: ['no-data'] } },
      }),
      asking(state, 'create-field', {
        title: 'create-field that is generated',
        of: { collection: 'posts', ...flow },
        body: {
          field: 'half',
          type: 'integer',
          interface: 'input',
          schema: { is_generated: true, generation_expression: 'author / 2' },
        },
      }),
      asking(state, 'update-fields', {
        title: 'update-fields of one',
        of: { collection: 'posts', field: 'title', ...flow },
        body: { type: 'text', meta: { note: 'n' }, schema: { is_nullable: false, default_value: 'y' } },
      }),
      asking(state, 'update-fields', {
        of: { collection: 'posts', ...flow },
        body: [
          { field: 'price', schema: { numeric_precision: 10 } },
          { field: 'title', meta: { sort: 1 } },
        ],
      }),
      asking(state, 'create-relation', {
        of: {},
        body: {
          collection: 'users',
          field: 'favourite',
          related_collection: 'posts',
          meta: { one_field: 'fans', sort_field: null, one_deselect_action: 'nullify' },
          schema: { on_delete: 'SET NULL', on_update: 'NO ACTION', constraint_name: 'fk' },
        },
      }),
      asking(state, 'create-relation', {
        title: 'create-relation to any',
        of: {},
        body: {
          collection: 'users',
          field: 'item',
          related_collection: null,
          meta: { one_allowed_collections: ['posts'], one_collection_field: 'kind' },
          schema: null,
        },
      }),
      asking(state, 'update-relation', {
        of: { collection: 'posts', field: 'author' },
        body: { related_collection: 'users', meta: { one_field: null }, schema: { on_delete: 'CASCADE' } },
      }),
      asking(state, 'apply-diff', {
        of: { release: RELEASE },
        body: {
          hash,
          diff: {
            collections: [
              { collection: 'posts', diff: [{ kind: 'E', path: ['meta', 'hidden'], lhs: false, rhs: true }] },
              { collection: 'group', diff: [{ kind: 'E', path: ['meta', 'note'], lhs: null, rhs: 'n' }] },
            ],
            fields: [
              {
                collection: 'posts',
                field: 'title',
                diff: [
                  { kind: 'E', path: ['schema', 'max_length'], lhs: 100, rhs: 200 },
                  { kind: 'E', path: ['meta', 'special'], lhs: null, rhs: ['x'] },
                ],
              },
            ],
            relations: [
              {
                collection: 'posts',
                field: 'author',
                related_collection: 'users',
                diff: [{ kind: 'E', path: ['schema', 'on_delete'], lhs: 'SET NULL', rhs: 'CASCADE' }],
              },
            ],
          },
        },
      }),
      {
        title: 'a snapshot',
        body: {
          ...snapshot,
          collections: snapshot['collections']?.slice(0, 2),
          fields: snapshot['fields']?.slice(0, 2),
        },
        ask: (body) => runToEnd(compareSnapshot(state, body, { force: false, mode: 'merge', release: RELEASE })),
      },
      // Facts from the database that the next operations need.
      {
        title: 'adopt-tables',
        body: { tables: ['legacy'] },
        ask: (body) => parsed('adopt-tables', { body }),
      },
      {
        title: 'accept-drift',
        body: { collections: ['posts'], fields: [{ collection: 'posts', field: 'title' }] },
        ask: (body) => parsed('accept-drift', { body }),
      },
      {
        title: 'a restoration',
        body: { as: 'again', without: ['title'] },
        ask: (body) => readRestoreRequest(body, 'collection'),
      },
      {
        title: 'resolutions of conflicts',
        body: [
          { place: { part: 'fields', collection: 'posts', field: 'title', path: ['meta', 'note'] }, take: 'ours' },
        ],
        ask: (body) => runToEnd(readResolutions(body)),
      },
    ];
    const transcript = createTranscript('answers.txt');
    for (const section of sections) transcript.add(sectionOf(section));
    await transcript.expectAsBefore();
  });
});
