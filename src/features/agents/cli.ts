/* `dps mcp`: passes messages between POST /mcp of a service and the agent that started the command. */
import { createInterface } from 'node:readline';
import type { ExitCode, Invocation } from '../../cli/command.js';
import { describeRejection, requestAnyStatus } from '../../cli/connections/service.js';
import { toOneLine } from '../../cli/output.js';
import { OperatorError } from '../../kernel/problem.js';

/** Runs until the input ends. Messages are answered concurrently, because they have ids. */
export async function mcp(invocation: Invocation): Promise<ExitCode> {
  const lines = createInterface({ input: process.stdin });
  const pending = new Set<Promise<void>>();
  let failure: Error | undefined;
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const work = answer(invocation, line)
      .catch((error: Error) => {
        failure ??= error;
        lines.close();
      })
      .finally(() => pending.delete(work));
    pending.add(work);
  }
  await Promise.all(pending);
  if (failure !== undefined) throw failure;
  return 0;
}

/** The JSON-RPC code for errors of a server. */
const SERVER_ERROR = -32_000;

async function answer(invocation: Invocation, line: string): Promise<void> {
  const { terminal } = invocation;
  const file = { type: 'application/json', content: Buffer.from(line) };
  const response = await requestAnyStatus(invocation, 'callAgentTools', { file }).catch((error: unknown) => {
    if (error instanceof OperatorError) return error;
    throw error;
  });
  if (!(response instanceof OperatorError) && response.status < 300) {
    if (response.text !== '') terminal.print(response.text, { isExact: true });
    return;
  }
  const message =
    response instanceof OperatorError ? response.message : describeRejection(response.status, response.text);
  const id = idOf(line);
  if (id === undefined) terminal.note(toOneLine(message));
  else
    terminal.print(JSON.stringify({ jsonrpc: '2.0', id, error: { code: SERVER_ERROR, message } }), { isExact: true });
}

/**
 * Returns the id of a message. Undefined for a notification, which has no response. Null if the line is not a message.
 */
function idOf(line: string): unknown {
  try {
    const { id } = JSON.parse(line) as { id?: unknown };
    return id;
  } catch {
    return null;
  }
}
