/** Types of programs of a large schema, in this process, by processor time, against the snapshot written as JSON. */
import { runToEnd } from '../../src/kernel/resumable.js';
import { compareSnapshot } from '../../src/schema/compare/compare-snapshot.js';
import { type State, initialState } from '../../src/schema/model/state.js';
import { LANGUAGES, programTypes } from '../../src/schema/program-types.js';
import { median, processorTime } from './measure.js';
import { NO_BUDGET, type Row, show } from './report.js';
import { snapshotOf } from './schemas.js';

/** Each of a schema that nothing was shown of before. */
export function typesOfMany(release: string, count: number, runs: number): Row[] {
  const snapshot = snapshotOf(count, release);
  return LANGUAGES.map((language) => {
    const pairs: { time: number; limit: number }[] = [];
    let size = 0;
    for (let run = -3; run < runs; run++) {
      const state = stateOf(structuredClone(snapshot), release);
      const limit = processorTime(() => void JSON.stringify(snapshot));
      const time = processorTime(() => (size = runToEnd(programTypes(state, language, release)).length));
      if (run >= 0) pairs.push({ time, limit });
    }
    return {
      work: `types of ${count.toLocaleString('en')} collections as ${language}, ${Math.ceil(size / 1024)} KiB, by processor time`,
      measured: show(median(pairs.map(({ time }) => time)), 'ms'),
      limit: `${show(median(pairs.map(({ limit }) => limit)), 'ms')} the snapshot as JSON`,
      ratio: median(pairs.map(({ time, limit }) => time / limit)),
      budget: NO_BUDGET,
    };
  });
}

function stateOf(snapshot: object, release: string): State {
  const read = runToEnd(compareSnapshot(initialState(), snapshot, { force: false, mode: 'mirror', release }));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value.desired.state;
}
