/** Starts the server, says where it is, and stops it when asked to. */
import type { Logger } from 'winston';
import { type Service, createService } from './app.js';
import { readConfig, secretsOf } from './config.js';
import { greeting } from './greeting.js';
import { createLogger, redact } from './logger.js';
import { OperatorError } from './kernel/operator-error.js';

const FAILED = 1;
/** A setting is wrong, or what it names can't be used. */
const CANNOT_START = 2;

/**
 * npm passes on the Ctrl-C that the terminal has sent us already: two signals this close (milliseconds) are one. A
 * later one says that waiting is over.
 */
const SAME_SIGNAL = 1_000;

// The reader of our output may go away (`npm start 2>&1 | head -1`); that is no reason to end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** A start that waits for another process ends with it. */
const ended = new AbortController();

try {
  const config = readConfig(process.env);
  const logger = createLogger({ ...config.log, secrets: secretsOf(config) });
  endOnBugs(logger);
  const starting = createService(config, logger, ended.signal);
  stopOnSignals(starting, logger);
  const service = await starting;
  console.log(greeting(service, config));
  void service.databaseLost.then((lastWords) => endWithoutDatabase(service, logger, lastWords));
} catch (error) {
  if (ended.signal.aborted) process.exit(0);
  console.error(error instanceof OperatorError ? error.message : redact(error));
  // Whatever is still open after a failed start must not keep the process.
  process.exit(error instanceof OperatorError ? CANNOT_START : FAILED);
}

function stopOnSignals(starting: Promise<Service>, logger: Logger): void {
  let first: number | null = null;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (first !== null) {
      if (performance.now() - first < SAME_SIGNAL) return;
      logger.warn('forced to stop', { signal });
      process.exit(FAILED);
    }
    first = performance.now();
    logger.info('stopping', { signal });
    ended.abort();
    void stop(starting, logger);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
}

/** A start that fails has said so, and ends the process itself. */
async function stop(starting: Promise<Service>, logger: Logger): Promise<void> {
  const service = await starting.catch(() => null);
  if (!service) return;
  await service.stop();
  logger.info('stopped');
  process.exit(0);
}

async function endWithoutDatabase(service: Service, logger: Logger, lastWords: string): Promise<void> {
  if (service.stopping()) return;
  logger.error('the embedded PostgreSQL has ended by itself; the service ends too', { said: lastWords.trim() });
  await service.stop();
  process.exit(FAILED);
}

/** The log first: a stack on stderr alone is easily lost. The embedded server stops by itself when we are gone. */
function endOnBugs(logger: Logger): void {
  const end = (error: unknown): void => {
    logger.error('a bug ends the service', { error });
    process.exit(FAILED);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}
