/** The OpenAPI document of the routes without a running service. */
import type { HttpDeps } from '../../src/http/deps.js';
import { type OpenApiDocument, openApiDocument } from '../../src/http/openapi/document.js';
import type { Route } from '../../src/http/route.js';
import { createRoutes } from '../../src/http/app.js';
import { readRelease } from '../../src/release.js';

/** Dependencies that routes need when they are created; none is called. */
const unused = (objects: boolean) => ({
  config: { release: readRelease(), schema: 'public', objects },
  systemCollections: [],
  auth: {},
});

/** @param objects false for the routes of a service with OBJECTS=off */
export const allRoutes = (objects = true): Route[] => createRoutes(unused(objects) as unknown as HttpDeps);

export const documentOfRoutes = (objects = true): OpenApiDocument => openApiDocument(allRoutes(objects), readRelease());
