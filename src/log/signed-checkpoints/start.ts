/** Starts everything that a process needs for signed checkpoints. */
import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from '../../postgres/logger.js';
import { isStandby } from '../../postgres/server-role.js';
import { type CheckpointOptions, type Checkpoints, createCheckpoints } from './index.js';
import { type Keys, createKeys } from './keys.js';
import type { Every } from './outbox.js';
import { type Publisher, createPublisher } from './publisher.js';
import { createTarget } from './targets.js';

export interface CheckpointSettings {
  /** A folder or an http(s) URL. Null publishes nothing. */
  to: string | null;
  every: Every;
  /**
   * Number of standbys that must have flushed the signed events. Null requires one if the server has or expects one.
   */
  standbys: number | null;
}

export interface CheckpointService extends Pick<Checkpoints, 'sign'>, Pick<Keys, 'list' | 'rotate'> {}

export interface Started {
  service: CheckpointService;
  publisher: Publisher;
}

export interface StartOptions extends Pick<CheckpointOptions, 'seen' | 'examine' | 'pending' | 'readOnly'> {
  pool: pg.Pool;
  place: { database: string; schema: string };
  settings: CheckpointSettings;
  /** From CHECKPOINT_KEY_FILE. */
  fileKey: KeyObject | null;
  logger: Logger;
}

/** Without a target (`to`) the publisher does nothing. Clients can still request signed checkpoints. */
export function startCheckpoints(options: StartOptions): Started {
  const { settings } = options;
  const keys = createKeys(options);
  const checkpoints = createCheckpoints({ ...options, keys, standbys: settings.standbys });
  const service = {
    sign: checkpoints.sign,
    list: async () => {
      // Clients that ask for keys before the first signature need the key that will sign.
      if (!options.readOnly() && !(await isStandby(options.pool))) await keys.signer();
      return keys.list();
    },
    rotate: keys.rotate,
  };
  if (settings.to === null) return { service, publisher: NOWHERE };
  const target = createTarget(settings.to);
  return { service, publisher: createPublisher({ ...options, checkpoints, target, every: settings.every }) };
}

const NOWHERE: Publisher = {
  wake: () => undefined,
  stop: () => Promise.resolve(),
  status: () => ({ position: 0, failures: 0 }),
};
