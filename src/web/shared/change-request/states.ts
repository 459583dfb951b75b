export const STATES = {
  open: { color: 'iris', words: 'is waiting for review' },
  approved: { color: 'teal', words: 'is approved, and not yet applied' },
  rejected: { color: 'red', words: 'was rejected; its author can change it' },
  scheduled: { color: 'teal', words: 'is applied at its time' },
  queued: { color: 'gray', words: 'waits for another request that has its tables' },
  preparing: { color: 'iris', words: 'is being prepared, while the tables are used' },
  prepared: { color: 'iris', words: 'is prepared, and not yet applied' },
  applied: { color: 'teal', words: 'is applied' },
  failed: { color: 'red', words: 'failed, and nothing was changed' },
  withdrawn: { color: 'gray', words: 'was withdrawn, and nothing was changed' },
} as const;
