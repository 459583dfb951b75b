import { type ExitCode, type Invocation, text } from '../command.js';
import { withLocation } from '../connections/database.js';

/** Runs the service in this process, which ends on a signal or a fatal error. */
export async function start({ values, environment }: Invocation): Promise<ExitCode> {
  const options = { HOST: text(values, 'host'), PORT: text(values, 'port') };
  const settings = { ...withLocation(environment, values) };
  for (const [name, value] of Object.entries(options)) if (value !== undefined) settings[name] = value;
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  process.setSourceMapsEnabled(true);
  await import('../../main.js');
  return 0;
}
