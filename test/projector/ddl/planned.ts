/** Plans as text, each statement in one line: what runs, what is said of it, what it costs. */
import { planBatch } from '../../../src/projector/ddl/plan.js';
import type { Statement } from '../../../src/projector/ddl/statement.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import { initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';

/** What becomes of a schema that these events have made, when those follow. Blocks of code are shown as `DO`, places in the trash as `##2`. */
export function planned(before: readonly NewEvent[], events: readonly NewEvent[]): string[] {
  return runToEnd(planBatch(follow(initialState(), before), events, 'public')).statements.map(shown);
}

function shown({ sql, summary, object, ...statement }: Statement): string {
  const about = object.table === null ? object.name : `${object.table}.${object.name}`;
  const {
    locks,
    lock_entries: entries,
    loses_data,
    rewrites_table,
    may_fail,
    preparable,
    drops,
    kept_until,
  } = statement;
  const costs = [
    `${object.kind} ${about}`,
    ...locks.map(({ table, lock }) => `${table} ${lock}`),
    `${entries} ${entries === 1 ? 'entry' : 'entries'}`,
    ...(loses_data ? ['loses data'] : []),
    ...(rewrites_table ? ['rewrites'] : []),
    ...(may_fail ? ['may fail'] : []),
    ...(preparable === undefined
      ? []
      : [
          `prepared as ${Object.values(preparable)
            .filter((each) => typeof each !== 'object')
            .join(' ')}`,
        ]),
    ...drops.map(({ kind, name }) => `drops ${kind} ${name}`),
    ...(statement.ensures === undefined ? [] : [`ensures ${statement.ensures}`]),
    ...(statement.commit === undefined ? [] : [`commit ${statement.commit}`]),
    ...(kept_until === undefined ? [] : [`kept until ${kept_until}`]),
  ];
  return `${sql.startsWith('DO ') ? 'DO' : sql.replaceAll(/\s+/g, ' ').replaceAll('\0', '#')} -- ${summary}: ${costs.join(', ')}`;
}
