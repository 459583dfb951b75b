import { expect } from 'chai';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import type { TableExtras } from '../../../src/schema/model/extras.js';
import { readNewCollection, readNewField } from '../../../src/schema/normal-form/index.js';
import type { Result } from '../../../src/kernel/problem.js';
import { type Snapshot, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { attempt, follow } from '../../support/given.js';
import { newEvent } from '../../../src/schema/model/events.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const RELEASE = '1.2.3';

const value = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
};

const OLD: TableExtras = {
  constraints: [{ name: 'old', definition: 'CHECK ((pg_backend_pid() > 0))' }],
  indexes: [{ name: 'old_index', definition: 'USING btree (half(id))' }],
};

/** As an older release wrote it to the log. */
function oldState(): State {
  const read = value(readNewCollection({ collection: 't', schema: { extras: OLD } }, [], { imported: false }));
  const fields = [
    { field: 'id', type: 'integer', schema: { is_primary_key: true, is_nullable: false } },
    { field: 'g', type: 'integer', schema: { generation_expression: 'half(id)' } },
    { field: 'd', type: 'text', schema: { extras: { default: 'version()' } } },
  ].map((field) => value(readNewField({ collection: 't', ...field }, [], { imported: false })));
  return follow(initialState(), [newEvent('collection.created', 't', null, { collection: read, fields })]);
}

function edited(edit: (snapshot: Snapshot) => void) {
  const state = oldState();
  const snapshot = JSON.parse(JSON.stringify(runToEnd(snapshotOf(state, RELEASE)))) as Snapshot;
  edit(snapshot);
  return runToEnd(compareSnapshot(state, snapshot, { force: false, mode: 'mirror', release: RELEASE }));
}

const extras = ({ collections: [table] }: Snapshot): TableExtras => table?.schema?.extras ?? {};

describe('existing SQL text', () => {
  it('is folded and accepted again without checks', () => {
    expect(edited(() => undefined).ok).to.equal(true);
  });

  it('stays when new text is added', () => {
    const compared = edited((snapshot) => {
      extras(snapshot).constraints?.push({ name: 'fresh', definition: 'CHECK ((id > 0))' });
      Object.assign(snapshot.fields.find(({ field }) => field === 'd')?.schema ?? {}, { comment: 'x' });
    });
    expect(compared.ok, JSON.stringify(compared)).to.equal(true);
  });

  it('is not checked again if only its index is renamed', () => {
    const compared = edited((snapshot) => {
      const [index] = extras(snapshot).indexes ?? [];
      if (index !== undefined) index.name = 'renamed';
    });
    expect(compared.ok, JSON.stringify(compared)).to.equal(true);
  });

  it('is checked for other objects or after changes', () => {
    const refused: [string, (snapshot: Snapshot) => void][] = [
      [
        'collections[0].schema.extras.constraints[0].definition',
        (snapshot) => {
          const [old] = extras(snapshot).constraints ?? [];
          if (old !== undefined) old.definition = 'CHECK ((pg_backend_pid() > 1))';
        },
      ],
      [
        'fields[2].schema.generation_expression',
        ({ fields }) => {
          const fieldIndex = fields.findIndex(({ field }) => field === 'g');
          const [generated] = fields.splice(fieldIndex, 1);
          if (generated?.schema)
            fields.push({ ...generated, schema: { ...generated.schema, generation_expression: 'half(id) + 1' } });
        },
      ],
    ];
    for (const [path, edit] of refused) {
      const compared = edited(edit);
      expect(compared.ok ? [] : compared.problems.map((problem) => problem.path)).to.deep.equal([path]);
    }
  });

  it('does not affect other operations', () => {
    const input = { collection: 't', field: 'd', body: { meta: { note: 'x' } }, concurrentIndexes: false };
    const changed = attempt(oldState(), 'update-fields', input);
    expect(changed.ok, JSON.stringify(changed)).to.equal(true);
  });

  it('is recreated in a replay', () => {
    const state = oldState();
    const { statements } = runToEnd(
      planBatch(initialState(), runToEnd(transition(initialState(), state, ['t'])), 'public'),
    );
    const script = statements.map(({ sql }) => sql).join(';');
    for (const text of ['pg_backend_pid()', 'half(id)', 'version()']) expect(script).to.include(text);
  });
});
