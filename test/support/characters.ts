import fc from 'fast-check';

/** The number of surrogate code points, which are contiguous. */
const SURROGATES = 0x800;

/**
 * Any character. Like fast-check's 'binary', which first builds a table of all characters for shrinking: one second
 * per process.
 */
export const character = fc
  .integer({ min: 0, max: 0x10_ff_ff - SURROGATES })
  .map((code) => String.fromCodePoint(code < 0xd8_00 ? code : code + SURROGATES));
