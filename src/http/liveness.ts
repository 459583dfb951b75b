/**
 * Liveness: the process responds, whatever it waits for. Supervisors restart only on this check, because a restart
 * cannot fix an unavailable database or a failed projection.
 */
export const LIVE_PATH = '/server/live';

export const LIVE = { status: 'ok' } as const;
