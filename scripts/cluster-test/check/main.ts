/**
 * Checks a recorded history: `--history FILE --mode sync|async --primary URL --node URL …`. Prints the violations, and
 * exits with 1 if there are any. It reads only the file and the database.
 */
import { parseArgs } from 'node:util';
import { readHistory } from './history.js';
import { readLog } from './log.js';
import { nodes } from './nodes.js';
import {
  type Mode,
  acknowledged,
  backwards,
  chain,
  findLost,
  findMixedHistories,
  findRepeated,
  positions,
} from './promises.js';

const { values } = parseArgs({
  options: {
    history: { type: 'string' },
    mode: { type: 'string', default: 'sync' },
    primary: { type: 'string' },
    node: { type: 'string', multiple: true, default: [] },
  },
});
const recorded = readHistory(values.history ?? '');
const log = await readLog(values.primary ?? '');
const testCase = { recorded, log, mode: values.mode as Mode };
const checks: Record<string, string[]> = {
  'the chain holds': chain(testCase),
  'no acknowledged command is lost without the log saying so': acknowledged(testCase),
  'no command is in the log twice, and none that was not': findRepeated(testCase),
  'no position had two events without a divergence': positions(testCase),
  'no process mixed two histories': findMixedHistories(testCase),
  'no reader was taken back': backwards(testCase),
  'all servers are equal': await nodes(values.node),
};
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const count = (result: string): number => recorded.tries.filter((each) => each.result === result).length;
print(
  `${recorded.tries.length} operations recorded, ${recorded.faults} faults, ${log.events.length} events in the log`,
);
print(
  `  acknowledged ${count('acknowledged')}, refused ${count('refused')}, read ${count('read')}, away ${count('away')}, unknown ${count('unknown')}`,
);
print(
  `  acknowledged and lost ${findLost(testCase).length}, divergences that the log names ${log.acknowledged.length}`,
);
for (const [what, problems] of Object.entries(checks)) {
  print(`${problems.length === 0 ? '  true  ' : '  FALSE '} ${what}`);
  for (const each of problems.slice(0, 20)) print(`          ${each}`);
  if (problems.length > 0) process.exitCode = 1;
}
