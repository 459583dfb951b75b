/** Starts the server, prints the greeting and stops on signals. */
import type { Logger } from 'winston';
import { type Service, createService } from './app.js';
import { readConfig, secretsOf } from './config.js';
import { startupMessage } from './startup-message.js';
import { createLogger, redact } from './logger.js';
import { OperatorError } from './kernel/problem.js';

const FAILED = 1;
/** Exit code for a wrong setting, or a setting that names something unusable. */
const CANNOT_START = 2;

/**
 * Two signals within this many milliseconds count as one, because npm repeats the Ctrl-C that the terminal already
 * sent. A later signal ends the process immediately.
 */
const SAME_SIGNAL = 1_000;

// The reader of the output may exit first (`npm start 2>&1 | head -1`). The service continues.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** Ends a start that waits for another process. */
const ended = new AbortController();

try {
  const config = readConfig(process.env);
  const logger = createLogger({ ...config.log, secrets: secretsOf(config) });
  endOnBugs(logger);
  const starting = createService(config, logger, ended.signal);
  stopOnSignals(starting, logger);
  const service = await starting;
  console.log(startupMessage(service, config));
  void service.databaseLost.then((lastWords) => endWithoutDatabase(service, logger, lastWords));
} catch (error) {
  if (ended.signal.aborted) process.exit(0);
  console.error(error instanceof OperatorError ? error.message : redact(error));
  // Resources that a failed start left open must not keep the process alive.
  process.exit(error instanceof OperatorError ? CANNOT_START : FAILED);
}

function stopOnSignals(starting: Promise<Service>, logger: Logger): void {
  let first: number | null = null;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (first !== null) {
      if (performance.now() - first < SAME_SIGNAL) return;
      logger.warn('shutdown timed out; the process was terminated', { signal });
      process.exit(FAILED);
    }
    first = performance.now();
    logger.info('stopping', { signal });
    ended.abort();
    void stop(starting, logger);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
}

/** Stops the service and ends the process. A failed start reports its error and ends the process itself. */
async function stop(starting: Promise<Service>, logger: Logger): Promise<void> {
  const service = await starting.catch(() => null);
  if (!service) return;
  await service.stop();
  logger.info('stopped');
  process.exit(0);
}

async function endWithoutDatabase(service: Service, logger: Logger, lastWords: string): Promise<void> {
  if (service.stopping()) return;
  logger.error('the embedded PostgreSQL has exited; the service stops too', { said: lastWords.trim() });
  await service.stop();
  process.exit(FAILED);
}

/**
 * Logs the error first, because a stack on stderr alone is easily lost. The embedded server stops when this process
 * ends.
 */
function endOnBugs(logger: Logger): void {
  const end = (error: unknown): void => {
    logger.error('an unexpected error stops the service; please report it', { error });
    process.exit(FAILED);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}
