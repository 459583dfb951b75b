/** Writes docs/api.md from the OpenAPI document: `npm run docs:api`. A test holds the file to what this makes. */
import { writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { apiReference } from './reference.js';
import { documentOfRoutes } from '../../test/support/openapi.js';

const text = apiReference(documentOfRoutes());
const page = await format(text, { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' });
await writeFile(new URL('../../docs/api.md', import.meta.url), page);
