/** The rows of the table of online changes: each as a request to the service, as plain DDL, and how it is taken back. */

export interface Request {
  method: string;
  path: string;
  body?: unknown;
}

export interface Change {
  name: string;
  request: Request;
  /** The same without the service: one transaction. */
  ddl: string[];
  /** Back, by the service and by hand. */
  undo?: Request;
  undoDdl?: string[];
}

const field = (name: string, schema: object): Request => ({
  method: 'PATCH',
  path: `/fields/items/${name}`,
  body: { schema },
});

/** Each deletion takes another field along. */
const deletion = (name: string): Request => ({ method: 'DELETE', path: `/fields/items/${name}` });

export const CHANGES: readonly Change[] = [
  {
    name: 'NOT NULL',
    request: field('title', { is_nullable: false }),
    ddl: ['ALTER TABLE public.items ALTER COLUMN title SET NOT NULL'],
    undo: field('title', { is_nullable: true }),
    undoDdl: ['ALTER TABLE public.items ALTER COLUMN title DROP NOT NULL'],
  },
  {
    name: 'unique',
    request: field('code', { is_unique: true }),
    ddl: ['ALTER TABLE public.items ADD CONSTRAINT by_hand UNIQUE (code)'],
    undo: field('code', { is_unique: false }),
    undoDdl: ['ALTER TABLE public.items DROP CONSTRAINT by_hand'],
  },
  {
    name: 'index',
    request: field('amount', { is_indexed: true }),
    ddl: ['CREATE INDEX by_hand ON public.items (amount)'],
    undo: field('amount', { is_indexed: false }),
    undoDdl: ['DROP INDEX public.by_hand'],
  },
  {
    name: 'foreign key',
    request: {
      method: 'POST',
      path: '/relations',
      body: { collection: 'items', field: 'owner', related_collection: 'owners', schema: { on_delete: 'CASCADE' } },
    },
    ddl: [
      'ALTER TABLE public.items ADD CONSTRAINT by_hand FOREIGN KEY (owner) REFERENCES public.owners (id) ON DELETE CASCADE',
    ],
    undo: { method: 'DELETE', path: '/relations/items/owner' },
    undoDdl: ['ALTER TABLE public.items DROP CONSTRAINT by_hand'],
  },
];

/** In the order: online, plainly by the service, by hand. */
export const DELETIONS: readonly [Request, Request, string[]] = [
  deletion('keep_a'),
  deletion('keep_b'),
  [
    'LOCK TABLE public.items IN ACCESS EXCLUSIVE MODE',
    'CREATE TABLE public.kept AS SELECT id, keep_c FROM public.items',
    'ALTER TABLE public.items DROP COLUMN keep_c',
  ],
];
