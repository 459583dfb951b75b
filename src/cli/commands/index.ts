/** All commands, in the order they are listed. */
import type { Command } from '../command.js';
import { apply } from './apply.js';
import { diff } from './diff.js';
import { snapshot } from './snapshot.js';
import { tokens } from './tokens.js';
import { users } from './users.js';

export const COMMANDS: readonly Command[] = [users, tokens, snapshot, diff, apply];
