import fc from 'fast-check';

/** How many halves of surrogate pairs there are; they lie in one row. */
const SURROGATES = 0x800;

/**
 * Any character. fast-check's own 'binary' is the same, but draws up a table of all of them first, so that it can shrink
 * strings that it has not drawn: a second for each process.
 */
export const character = fc
  .integer({ min: 0, max: 0x10_ff_ff - SURROGATES })
  .map((code) => String.fromCodePoint(code < 0xd8_00 ? code : code + SURROGATES));
