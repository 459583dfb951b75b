/** A transcript of a session with `dps`: each line with what is printed, noted and answered. */
import { dps } from './dps.js';
import { type Transcript, createTranscript } from './transcript.js';

export interface CliSession extends Transcript {
  /** Runs a line as a shell would take it, and writes down what one reads. @returns what is printed */
  run(line: string, given?: Typed): Promise<string>;
}

export interface Typed {
  stdin?: string;
  /** What is typed at each question; without, there is nobody to ask. */
  answer?: string;
  /** Beside those of the session. */
  settings?: Readonly<Record<string, string>>;
}

/** @param environment asked for each line @param folder stands for FOLDER in a line */
export function createCliSession(
  name: string,
  { environment, folder }: { environment: () => Readonly<Record<string, string>>; folder: () => string },
): CliSession {
  const session = createTranscript(name);
  return {
    ...session,
    async run(line, { stdin, answer, settings } = {}) {
      const { code, out, err } = await dps(
        [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => (quoted ?? word).replace('FOLDER', folder())),
        { ...environment(), ...settings },
        { ...(stdin !== undefined && { stdin }), ...(answer !== undefined && { ask: () => answer }) },
      );
      const printed = out === '' ? [] : [out];
      session.add(
        [`$ dps ${line}`, ...printed, ...(err === '' ? [] : [`(noted) ${err}`]), `(exit ${code})`].join('\n'),
      );
      return out;
    },
  };
}
