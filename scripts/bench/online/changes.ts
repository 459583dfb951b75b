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
  /** What takes it back, by the way it was made. */
  undo: Partial<Record<ChangeMode, { request?: Request; ddl?: string[] }>>;
}

const field = (name: string, schema: object): Request => ({
  method: 'PATCH',
  path: `/fields/items/${name}`,
  body: { schema },
});

/** A way to make a change: a request to the service, online or not, or statements in one transaction. */
export type ChangeMode = 'online' | 'plainly' | 'plain DDL';

/** Of the deletions, which can't be taken back: each takes another field along. */
export const deletion = (name: string): Change => ({
  name: 'deleting a field',
  request: { method: 'DELETE', path: `/fields/items/${name}` },
  ddl: [
    'LOCK TABLE public.items IN ACCESS EXCLUSIVE MODE',
    `CREATE TABLE public.kept AS SELECT id, ${name} FROM public.items`,
    `ALTER TABLE public.items DROP COLUMN ${name}`,
  ],
  // The log still has the field; and nobody needs the copy.
  undo: {
    'plain DDL': { request: { method: 'DELETE', path: `/fields/items/${name}` }, ddl: ['DROP TABLE public.kept'] },
  },
});

const back = (request: Request, ddl: string[]): Change['undo'] => ({
  online: { request },
  plainly: { request },
  'plain DDL': { ddl },
});

export const CHANGES: readonly Change[] = [
  {
    name: 'NOT NULL',
    request: field('title', { is_nullable: false }),
    ddl: ['ALTER TABLE public.items ALTER COLUMN title SET NOT NULL'],
    undo: back(field('title', { is_nullable: true }), ['ALTER TABLE public.items ALTER COLUMN title DROP NOT NULL']),
  },
  {
    name: 'unique',
    request: field('code', { is_unique: true }),
    ddl: ['ALTER TABLE public.items ADD CONSTRAINT by_hand UNIQUE (code)'],
    undo: back(field('code', { is_unique: false }), ['ALTER TABLE public.items DROP CONSTRAINT by_hand']),
  },
  {
    name: 'index',
    request: field('amount', { is_indexed: true }),
    ddl: ['CREATE INDEX by_hand ON public.items (amount)'],
    undo: back(field('amount', { is_indexed: false }), ['DROP INDEX public.by_hand']),
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
    undo: back({ method: 'DELETE', path: '/relations/items/owner' }, [
      'ALTER TABLE public.items DROP CONSTRAINT by_hand',
    ]),
  },
];
