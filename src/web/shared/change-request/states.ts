export const STATES = {
  open: { color: 'iris', words: 'is waiting for review' },
  approved: { color: 'teal', words: 'is approved but not applied' },
  rejected: { color: 'red', words: 'was rejected. Its author can update it' },
  scheduled: { color: 'teal', words: 'is scheduled' },
  queued: { color: 'gray', words: 'waits for another request that changes the same tables' },
  preparing: { color: 'iris', words: 'is being prepared online' },
  prepared: { color: 'iris', words: 'is prepared but not applied' },
  applied: { color: 'teal', words: 'is applied' },
  failed: { color: 'red', words: 'failed. Nothing was changed' },
  withdrawn: { color: 'gray', words: 'was withdrawn. Nothing was changed' },
} as const;
