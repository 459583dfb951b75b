/** The addresses of the app. A page is loaded when it is first gone to, and told its part of the address. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NotFound } from '../shared/not-found.js';
import { readSchemaSearch } from '../pages/schema/search.js';
import { Shell } from './shell.js';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const schema = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: readSchemaSearch,
  component: lazyRouteComponent(() => import('../pages/schema/page.js'), 'SchemaPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([schema]),
  basepath: '/app',
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
