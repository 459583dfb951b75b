/** Implements ON_LOG_DIVERGENCE=continue. */
import type { LogWatch } from '../log/watch.js';
import type { Logger } from '../postgres/logger.js';
import { BY_ITSELF } from './acknowledge.js';
import type { Pipeline } from './types.js';

interface AutoAcknowledge {
  onLogDivergence: 'refuse' | 'continue';
  logger: Logger;
  watch: LogWatch;
  pipeline: Pick<Pipeline, 'acknowledge'>;
  readOnly: () => boolean;
}

/** Acknowledges divergences without an operator, if configured. */
export function autoAcknowledge({ onLogDivergence, logger, watch, pipeline, readOnly }: AutoAcknowledge): void {
  if (onLogDivergence !== 'continue') return;
  watch.subscribe(() => {
    if (readOnly()) return;
    pipeline.acknowledge(BY_ITSELF).catch((error: unknown) => {
      // The next change tries again.
      logger.warn('a divergence of the log could not be acknowledged yet', { error });
    });
  });
}
