import { runCli } from '../../src/cli/command-line.js';

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** @param environment the settings; this process's own environment is hidden */
export async function dps(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  input: { stdin?: string; rewrite?: (line: string) => void; ask?: (question: string) => string } = {},
): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli([...args], {
    environment,
    terminal: {
      print: (text) => out.push(text),
      note: (text) => err.push(text),
      ...(input.rewrite && { rewrite: input.rewrite }),
      ...(input.ask && { ask: (question: string) => Promise.resolve(input.ask?.(question) ?? '') }),
      read: () => Promise.resolve(input.stdin ?? ''),
    },
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}
