import type { Logger } from '../../postgres/logger.js';

const nothing = (): void => undefined;

/** A command says what it has to say itself. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
