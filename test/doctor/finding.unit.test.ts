import { expect } from 'chai';
import { FINDINGS, finding } from '../../src/doctor/check.js';

/** Findings that make the exit code of dps doctor 1. */
const ERRORS = [
  'ACCOUNTS_DIFFER',
  'CHAIN_BROKEN',
  'CHANGES_DIFFER',
  'CHANGE_NOT_ALLOWED',
  'CHECK_FAILED',
  'DATABASE_READ_ONLY',
  'DATABASE_UNREACHABLE',
  'DATABASE_UNSUPPORTED',
  'KEY_ALTERED',
  'LISTENER_DEAF',
  'LOG_DIVERGED',
  'LOG_UNPROTECTED',
  'LOG_UNREADABLE',
  'MIGRATIONS_NEWER',
  'MIGRATIONS_PENDING',
  'OBJECTS_OWNER_UNUSABLE',
  'OWN_TABLES_DIFFER',
  'POOLER_UNUSABLE',
  'PROJECTION_FAILED',
  'RESTORE_UNFINISHED',
  'ROWS_DIFFER',
  'SCHEMA_NOT_WRITABLE',
  'SERVICE_MISSING',
  'TABLES_DIFFER',
  'TABLES_NOT_OWNED',
];

describe('findings of the doctor', () => {
  it('are errors if something fails, and warnings if it may fail later', () => {
    const errors = Object.entries(FINDINGS).filter(([, { severity }]) => severity === 'error');
    expect(errors.map(([code]) => code).sort()).to.deep.equal(ERRORS);
    const others = Object.values(FINDINGS).filter(({ severity }) => severity !== 'error');
    expect(new Set(others.map(({ severity }) => severity))).to.deep.equal(new Set(['warning']));
    for (const { fix } of Object.values(FINDINGS)) expect(fix).to.match(/\.$|, "Poolers"\.$/);
    const { severity, fix } = FINDINGS.CLOCK_DIFFERENCE;
    const message = 'It is late.';
    expect(finding('CLOCK_DIFFERENCE', message)).to.deep.equal({ code: 'CLOCK_DIFFERENCE', severity, fix, message });
  });
});
