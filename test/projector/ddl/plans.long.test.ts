/**
 * The statements that change one column to another, for all pairs of a set, and that create and drop each, compared
 * with `test/fixtures/plans.txt`.
 */
import { shownProblem } from '../../support/answers.js';
import { accept, attempt } from '../../support/given.js';
import { createTranscript } from '../../support/transcript.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import type { SchemaEvent } from '../../../src/schema/model/events.js';
import type { Result } from '../../../src/kernel/problem.js';
import { plannedFor } from './planned.js';

/** Keyed by name: the type and schema of the column. */
const COLUMNS: Record<string, [type: string, schema: object]> = {
  'string(50)': ['string', { max_length: 50 }],
  'string(10) not null': ['string', { max_length: 10, is_nullable: false, default_value: 'x' }],
  'char(3)': ['string', { data_type: 'character', max_length: 3 }],
  'text unique': ['text', { is_unique: true }],
  'integer indexed': ['integer', { is_indexed: true }],
  smallint: ['integer', { data_type: 'smallint', default_value: 3 }],
  bigint: ['bigInteger', {}],
  'decimal(8,2)': ['decimal', { numeric_precision: 8, numeric_scale: 2 }],
  'decimal not null': ['decimal', { numeric_precision: null, numeric_scale: null, is_nullable: false }],
  double: ['float', { data_type: 'double precision' }],
  boolean: ['boolean', { default_value: false }],
  date: ['date', {}],
  dateTime: ['dateTime', { default_value: '2024-01-01T10:00:00' }],
  timestamp: ['timestamp', { is_indexed: true }],
  jsonb: ['json', { data_type: 'jsonb', default_value: { a: 1 } }],
  csv: ['csv', { default_value: ['a'] }],
  uuid: ['uuid', { is_unique: true, is_nullable: false }],
  binary: ['binary', {}],
  generated: ['integer', { is_generated: true, generation_expression: 'id * 2' }],
};

const FLOW = { concurrentIndexes: false };

describe('plans for columns', () => {
  const empty = accept(initialState(), 'create-collection', { body: { collection: 't', schema: {} }, ...FLOW });
  const bodyOf = (name: string): object => {
    const [type, schema] = COLUMNS[name] as [string, object];
    return { field: 'f', type, interface: 'input', schema };
  };
  const shown = (state: State, result: Result<SchemaEvent[]>): string[] =>
    result.ok ? plannedFor(state, result.value, { whole: true }) : result.problems.map(shownProblem);

  it('match the recorded statements', async () => {
    const transcript = createTranscript('plans.txt');
    for (const name of Object.keys(COLUMNS)) {
      const created = attempt(empty, 'create-field', { collection: 't', body: bodyOf(name), ...FLOW });
      const state = accept(empty, 'create-field', { collection: 't', body: bodyOf(name), ...FLOW });
      const lines = [
        `${name} is made`,
        ...shown(empty, created),
        `${name} is dropped`,
        ...shown(state, attempt(state, 'delete-field', { collection: 't', field: 'f' })),
      ];
      for (const other of Object.keys(COLUMNS)) {
        const [type, schema] = COLUMNS[other] as [string, object];
        const body = { type, schema: { ...PLAIN, ...schema } };
        lines.push(
          `${name} becomes ${other}`,
          ...shown(state, attempt(state, 'update-fields', { collection: 't', field: 'f', body, ...FLOW })),
        );
      }
      transcript.add(lines.join('\n  '));
    }
    await transcript.expectAsBefore();
  });
});

/** Members that are not shown. */
const PLAIN = {
  default_value: null,
  is_nullable: true,
  is_unique: false,
  is_indexed: false,
  is_generated: false,
  generation_expression: null,
};
