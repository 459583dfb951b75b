/**
 * Whether a process is alive: it answers, whatever it waits for. Who restarts processes asks this and nothing else, since
 * neither a database that is away nor a projection that stopped gets well by a restart.
 */
export const LIVE_PATH = '/server/live';

export const LIVE = { status: 'ok' } as const;
