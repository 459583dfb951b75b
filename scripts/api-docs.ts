/** Writes docs/api.md from the OpenAPI document: `npm run docs:api`. A test holds the file to what this makes. */
import { writeFile } from 'node:fs/promises';
import { apiReference } from './api-docs/reference.js';
import { documentOfRoutes } from '../test/support/openapi.js';

await writeFile(new URL('../docs/api.md', import.meta.url), await apiReference(documentOfRoutes()));
