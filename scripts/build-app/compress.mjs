/** Compresses every file that benefits, in each coding that the service sends, at the highest level. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const WORTH_IT = 1_400;
const CODINGS = [
  ['.br', (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })],
  ['.gz', (bytes) => promisify(gzip)(bytes, { level: 9 })],
];

export async function compress(directory) {
  const work = readdirSync(directory).flatMap((name) => {
    const bytes = readFileSync(join(directory, name));
    if (bytes.length < WORTH_IT || !/\.(?:js|css|svg|json|txt)$/.test(name)) return [];
    return CODINGS.map(async ([ending, encode]) => writeFileSync(join(directory, name + ending), await encode(bytes)));
  });
  await Promise.all(work);
}
