/** An agent that calls the tools of a service with the client of the protocol's SDK. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect } from 'chai';

interface ToolAnswer {
  isError: boolean;
  /** The texts of its blocks. */
  content: string[];
}

interface ToolFailure {
  message: string;
  extensions: { code: string; path?: string };
}

export interface Agent {
  client: Client;
  /** Names, in alphabetical order. */
  tools(): Promise<string[]>;
  call(name: string, input?: Record<string, unknown>): Promise<ToolAnswer>;
  /** The data of an answer, which must not be an error. */
  answer<T = unknown>(name: string, input?: Record<string, unknown>): Promise<T>;
  /** The errors of an answer, which must be an error. */
  errors(name: string, input?: Record<string, unknown>): Promise<ToolFailure[]>;
  close(): Promise<void>;
}

export function connectAgent({ url }: { url: string }, token: string): Promise<Agent> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return connectThrough(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
}

export async function connectThrough(transport: Transport): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const call: Agent['call'] = async (name, input = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: input });
    return { isError: isError === true, content: (content as { text: string }[]).map(({ text }) => text) };
  };
  const data = async (name: string, input: Record<string, unknown> | undefined, isError: boolean): Promise<unknown> => {
    const answer = await call(name, input);
    expect(answer.isError, answer.content.join('\n')).to.equal(isError);
    return JSON.parse(answer.content[1] ?? '') as unknown;
  };
  return {
    client,
    call,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name).toSorted(),
    answer: async <T>(name: string, input?: Record<string, unknown>) => (await data(name, input, false)) as T,
    errors: async (name, input) => ((await data(name, input, true)) as { errors: ToolFailure[] }).errors,
    close: () => client.close(),
  };
}
