/** The addresses of the app. A page is loaded on its first visit. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { readCollectionSearch } from '../pages/collection/search.js';
import { readCompareSearch } from '../pages/compare/search.js';
import { readReviewSearch } from '../pages/review/search.js';
import { readSchemaSearch } from '../pages/schema/search.js';
import { readTimelineSearch } from '../pages/timeline/search.js';
import { NotFound } from '../shared/page.js';
import { Shell } from './shell.js';

interface ObjectsSearch {
  /** The object that is shown. */
  kind?: string;
  id?: string;
  /** Opens the form for a new object. */
  new?: true;
}

const readObjectsSearch = ({ kind, id, new: isNew }: Record<string, unknown>): ObjectsSearch => ({
  ...(typeof kind === 'string' && (typeof id === 'string' || typeof id === 'number') && { kind, id: String(id) }),
  ...(isNew === true && { new: true }),
});

interface NewSearch {
  as?: 'folder';
  /** The parent folder of the new collection. */
  group?: string;
}

function readNewSearch({ as, group }: Record<string, unknown>): NewSearch {
  return {
    ...(as === 'folder' && { as }),
    ...((typeof group === 'string' || typeof group === 'number') && { group: String(group) }),
  };
}

interface AccountsSearch {
  /** Opens the form for a new user. */
  new?: true;
}

const readAccountsSearch = (search: Record<string, unknown>): AccountsSearch => ({
  ...(search['new'] === true && { new: true }),
});

interface EnvironmentsSearch {
  /** The address of another instance whose changes the user wants to review here. */
  from?: string;
}

const readEnvironmentsSearch = ({ from }: Record<string, unknown>): EnvironmentsSearch =>
  typeof from === 'string' && /^https?:\/\//.test(from) ? { from } : {};

interface ReferenceSearch {
  /** The id of the open operation. Unknown ids open none. */
  op?: string;
}

const readReferenceSearch = ({ op }: Record<string, unknown>): ReferenceSearch =>
  typeof op === 'string' ? { op } : {};

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const schema = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: readSchemaSearch,
  component: lazyRouteComponent(() => import('../pages/schema/page.js'), 'SchemaPage'),
});

const collection = createRoute({
  getParentRoute: () => root,
  path: '/collections/$name',
  validateSearch: readCollectionSearch,
  component: lazyRouteComponent(() => import('../pages/collection/page.js'), 'CollectionPage'),
});

const objects = createRoute({
  getParentRoute: () => root,
  path: '/objects',
  validateSearch: readObjectsSearch,
  component: lazyRouteComponent(() => import('../pages/objects/page.js'), 'ObjectsPage'),
});

const made = createRoute({
  getParentRoute: () => root,
  path: '/new',
  validateSearch: readNewSearch,
  component: lazyRouteComponent(() => import('../pages/collection/new-page.js'), 'NewPage'),
});

const timeline = createRoute({
  getParentRoute: () => root,
  path: '/timeline',
  validateSearch: readTimelineSearch,
  component: lazyRouteComponent(() => import('../pages/timeline/page.js'), 'TimelinePage'),
});

const review = createRoute({
  getParentRoute: () => root,
  path: '/review',
  validateSearch: readReviewSearch,
  component: lazyRouteComponent(() => import('../pages/review/page.js'), 'ReviewPage'),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: '/timeline/compare',
  validateSearch: readCompareSearch,
  component: lazyRouteComponent(() => import('../pages/compare/page.js'), 'ComparePage'),
});

const verification = createRoute({
  getParentRoute: () => root,
  path: '/verification',
  component: lazyRouteComponent(() => import('../pages/verification/page.js'), 'VerificationPage'),
});

const accounts = createRoute({
  getParentRoute: () => root,
  path: '/accounts',
  validateSearch: readAccountsSearch,
  component: lazyRouteComponent(() => import('../pages/accounts/page.js'), 'AccountsPage'),
});

const reference = createRoute({
  getParentRoute: () => root,
  path: '/api',
  validateSearch: readReferenceSearch,
  component: lazyRouteComponent(() => import('../pages/reference/page.js'), 'ReferencePage'),
});

const docs = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyRouteComponent(() => import('../pages/docs/page.js'), 'DocsPage'),
});

const docsPage = createRoute({
  getParentRoute: () => root,
  path: '/docs/$page',
  component: lazyRouteComponent(() => import('../pages/docs/page.js'), 'DocsPage'),
});

const operations = createRoute({
  getParentRoute: () => root,
  path: '/operations',
  component: lazyRouteComponent(() => import('../pages/operations/page.js'), 'OperationsPage'),
});

const health = createRoute({
  getParentRoute: () => operations,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/operations/health-tab.js'), 'HealthTab'),
});

const checks = createRoute({
  getParentRoute: () => operations,
  path: '/checks',
  component: lazyRouteComponent(() => import('../pages/operations/checks-tab.js'), 'ChecksTab'),
});

const changes = createRoute({
  getParentRoute: () => operations,
  path: '/changes',
  component: lazyRouteComponent(() => import('../pages/operations/changes-tab.js'), 'ChangesTab'),
});

const policy = createRoute({
  getParentRoute: () => operations,
  path: '/policy',
  component: lazyRouteComponent(() => import('../pages/operations/policy-tab.js'), 'PolicyTab'),
});

const trash = createRoute({
  getParentRoute: () => operations,
  path: '/trash',
  component: lazyRouteComponent(() => import('../pages/operations/trash-tab.js'), 'TrashTab'),
});

const adopt = createRoute({
  getParentRoute: () => operations,
  path: '/adopt',
  component: lazyRouteComponent(() => import('../pages/operations/adopt-tab.js'), 'AdoptTab'),
});

const webhooks = createRoute({
  getParentRoute: () => operations,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('../pages/operations/webhooks-tab.js'), 'WebhooksTab'),
});

const environments = createRoute({
  getParentRoute: () => operations,
  path: '/environments',
  validateSearch: readEnvironmentsSearch,
  component: lazyRouteComponent(() => import('../pages/operations/environments-tab.js'), 'EnvironmentsTab'),
});

const trust = createRoute({
  getParentRoute: () => operations,
  path: '/trust',
  component: lazyRouteComponent(() => import('../pages/operations/trust-tab.js'), 'TrustTab'),
});

const metrics = createRoute({
  getParentRoute: () => operations,
  path: '/metrics',
  component: lazyRouteComponent(() => import('../pages/operations/metrics-tab.js'), 'MetricsTab'),
});

const operationsParts = operations.addChildren([
  health,
  checks,
  changes,
  policy,
  trash,
  adopt,
  webhooks,
  environments,
  trust,
  metrics,
]);

export const router = createRouter({
  routeTree: root.addChildren([
    schema,
    collection,
    made,
    objects,
    review,
    timeline,
    compare,
    verification,
    operationsParts,
    accounts,
    reference,
    docs,
    docsPage,
  ]),
  basepath: '/app',
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
