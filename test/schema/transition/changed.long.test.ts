/**
 * The events and statements for renaming and deleting each collection and field of a library, compared with
 * `test/fixtures/library-changes.txt`.
 */
import type { SchemaEvent } from '../../../src/schema/model/events.js';
import type { OperationName } from '../../../src/schema/operations/index.js';
import { plannedFor } from '../../projector/ddl/planned.js';
import { shownProblem } from '../../support/answers.js';
import { attempt } from '../../support/given.js';
import { createTranscript } from '../../support/transcript.js';
import { LIBRARY } from './trashed.js';

describe('the effects of a single change', () => {
  it('match the recorded events', async () => {
    const transcript = createTranscript('library-changes.txt');
    const add = (name: OperationName, input: object): void => {
      const result = attempt(LIBRARY, name, input as never);
      const lines = result.ok
        ? [...result.value.map(describeEvent), ...plannedFor(LIBRARY, result.value, { whole: true })]
        : result.problems.map(shownProblem);
      transcript.add([`${name} ${JSON.stringify(input)}`, ...lines].join('\n  '));
    };
    for (const [name, { fields, relations }] of LIBRARY.collections) {
      add('rename-collection', { collection: name, body: { to: 'things' } });
      add('delete-collection', { collection: name });
      for (const field of fields.keys()) {
        add('rename-field', { collection: name, field, body: { to: 'other' } });
        add('delete-field', { collection: name, field });
      }
      for (const field of relations.keys()) {
        add('delete-relation', { collection: name, field });
        add('update-relation', { collection: name, field, body: { meta: { one_deselect_action: 'delete' } } });
        add('update-relation', { collection: name, field, body: { schema: { on_delete: 'CASCADE' } } });
      }
    }
    await transcript.expectAsBefore();
  });
});

const describeEvent = ({ type, collection, field, data }: SchemaEvent): string =>
  `+ ${type} ${collection}${field === null ? '' : `.${field}`} ${JSON.stringify(data)}`;
