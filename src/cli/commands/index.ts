/** All commands, in the order they are listed. */
import type { Command } from '../command.js';
import { adopt } from './adopt.js';
import { apply } from './apply.js';
import { diff } from './diff.js';
import { drift } from './drift.js';
import { doctor } from './doctor.js';
import { history } from './history.js';
import { rebuild } from './rebuild.js';
import { restore } from './restore.js';
import { snapshot } from './snapshot.js';
import { status } from './status.js';
import { tokens } from './tokens.js';
import { users } from './users.js';
import { verify } from './verify.js';

export const COMMANDS: readonly Command[] = [
  status,
  verify,
  doctor,
  drift,
  adopt,
  rebuild,
  restore,
  users,
  tokens,
  snapshot,
  diff,
  apply,
  history,
];
