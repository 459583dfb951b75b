import { ACKNOWLEDGE } from '../../pipeline/acknowledge.js';
import { type ExitCode, type Invocation, isSet } from '../command.js';
import { describeDivergence } from '../../doctor/differences.js';
import { json } from '../output.js';
import { createOperatorRequest, withPipeline } from '../connections/pipeline.js';

/** Returns 0, even if there was nothing to acknowledge. */
export async function acknowledgeLog(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const { cause } = createOperatorRequest(ACKNOWLEDGE, invocation);
  const acknowledged = await withPipeline(invocation, ({ pipeline }) => pipeline.acknowledge(cause));
  const { position, divergences } = acknowledged;
  if (isSet(values, 'json')) terminal.print(json(acknowledged));
  else if (divergences.length === 0) terminal.print('Nothing to acknowledge: the log has not forked.');
  else terminal.print([...divergences.map(describeDivergence), `Acknowledged by event ${position}.`].join('\n'));
  return 0;
}
