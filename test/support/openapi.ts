/** The OpenAPI document of the routes without a running service. */
import type { HttpDeps } from '../../src/http/deps.js';
import { type OpenApiDocument, openApiDocument } from '../../src/http/openapi/document.js';
import type { Route } from '../../src/http/route.js';
import { createRoutes } from '../../src/http/routes/index.js';
import { readRelease } from '../../src/release.js';

/** Dependencies that routes need when they are created; none is called. */
const UNUSED = { config: { release: readRelease(), schema: 'public' }, systemCollections: [], auth: {} };

export const allRoutes = (): Route[] => createRoutes(UNUSED as unknown as HttpDeps);

export const documentOfRoutes = (): OpenApiDocument => openApiDocument(allRoutes(), readRelease());
