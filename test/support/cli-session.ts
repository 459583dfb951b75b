/** A transcript of a `dps` session: each line with its output and answers. */
import { dps } from './dps.js';
import { type Transcript, createTranscript } from './transcript.js';

export interface CliSession extends Transcript {
  /**
   * Runs a line as a shell would, and records the output.
   * @returns the printed text
   */
  run(line: string, given?: Typed): Promise<string>;
}

interface Typed {
  stdin?: string;
  /** The answer to each question; without it there is no terminal. */
  answer?: string;
  /** Added to those of the session. */
  settings?: Readonly<Record<string, string>>;
}

/**
 * @param environment called for each line
 * @param folder replaces FOLDER in a line
 */
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
