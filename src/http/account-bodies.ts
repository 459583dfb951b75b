import { z } from 'zod';
import { ROLES, USER_STATUSES } from '../auth/caller.js';
import { NAME_LENGTH, PASSWORD_LENGTH } from '../auth/account-rules.js';
import { isStorableTime, TIME_RANGE } from '../kernel/time.js';

/** The refresh token is sent in bodies or in a cookie. */
const mode = z.enum(['json', 'cookie']).optional();

export const credentials = z.strictObject({
  email: z.string().min(1).max(320),
  password: z.string().min(1).max(1024),
  mode,
});
export const refreshToken = z.strictObject({ refresh_token: z.string().min(1).max(512).optional(), mode });

const email = z.email().max(320);
const name = z.string().min(NAME_LENGTH.min).max(NAME_LENGTH.max);
const password = z.string().min(PASSWORD_LENGTH.min).max(PASSWORD_LENGTH.max).nullable();

export const newUser = z.strictObject({
  email,
  name: name.optional(),
  password: password.optional(),
  role: z.enum(ROLES),
  status: z.enum(USER_STATUSES).optional(),
});
export const userChanges = newUser.partial();

export const newToken = z.strictObject({
  name: name.optional(),
  expires_at: z.iso
    .datetime({ offset: true })
    .refine((text) => isStorableTime(new Date(text)), `must be a time ${TIME_RANGE}`)
    .nullable()
    .optional(),
});
