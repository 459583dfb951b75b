import { planBatch } from '../../../src/projector/ddl/plan.js';
import type { Statement } from '../../../src/projector/ddl/step.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { SchemaEvent } from '../../../src/schema/model/events.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';

/** The plan for `events` after `before`. Blocks of code are shown as `DO`, trash schemas as `##2`. */
export function planned(before: readonly SchemaEvent[], events: readonly SchemaEvent[]): string[] {
  return plannedFor(follow(initialState(), before), events);
}

/** @param whole includes blocks of code */
export function plannedFor(state: State, events: readonly SchemaEvent[], { whole = false } = {}): string[] {
  return runToEnd(planBatch(state, events, 'public')).statements.map((statement) => renderStatement(statement, whole));
}

function renderStatement({ sql, summary, object, ...costs }: Statement, full: boolean): string {
  const text = sql.startsWith('DO ') && !full ? 'DO' : sql.replaceAll(/\s+/g, ' ');
  const about = object.table === null ? object.name : `${object.table}.${object.name}`;
  return `${text} -- ${summary}: ${object.kind} ${about}, ${saidOf(costs).join(', ')}`.replaceAll('\0', '#');
}

function saidOf({ lock_entries: entries, ...costs }: Omit<Statement, 'sql' | 'summary' | 'object'>): string[] {
  const output = [
    ...costs.locks.map(({ table, lock }) => `${table} ${lock}`),
    `${entries} ${entries === 1 ? 'entry' : 'entries'}`,
    costs.loses_data && 'loses data',
    costs.rewrites_table && 'rewrites',
    costs.may_fail && 'may fail',
    costs.preparable && `prepared as ${textsOf(costs.preparable)}`,
    ...costs.drops.map(({ kind, name }) => `drops ${kind} ${name}`),
    costs.ensures && `ensures ${costs.ensures}`,
    costs.commit && `commit ${costs.commit}`,
    costs.kept_until && `kept until ${costs.kept_until}`,
  ];
  return output.filter((each) => typeof each === 'string');
}

const textsOf = (preparable: object): string =>
  Object.values(preparable)
    .filter((each) => typeof each !== 'object')
    .join(' ');
