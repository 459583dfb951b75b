import type { Logger } from '../../postgres/logger.js';

const nothing = (): void => undefined;

/** Commands print their own messages. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
