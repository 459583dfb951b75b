/** The table of online changes. Each row is a request to the service, the same change as plain DDL, and its inverse. */

export interface Request {
  method: string;
  path: string;
  body?: unknown;
}

export interface Change {
  name: string;
  request: Request;
  /** The same change without the service, in one transaction. */
  ddl: string[];
  /** The inverse, depending on how the change was applied. */
  undo: Partial<Record<ChangeMode, { request?: Request; ddl?: string[] }>>;
}

const field = (name: string, schema: object): Request => ({
  method: 'PATCH',
  path: `/fields/items/${name}`,
  body: { schema },
});

/** How a change is applied: by the service, online or not, or by statements in one transaction. */
export type ChangeMode = 'online' | 'plainly' | 'plain DDL';

/** Deletions cannot be undone, so each deletes another field. */
export const deletion = (name: string): Change => ({
  name: 'deleting a field',
  request: { method: 'DELETE', path: `/fields/items/${name}` },
  ddl: [
    'LOCK TABLE public.items IN ACCESS EXCLUSIVE MODE',
    `CREATE TABLE public.kept AS SELECT id, ${name} FROM public.items`,
    `ALTER TABLE public.items DROP COLUMN ${name}`,
  ],
  // The field still exists in the log, and the copy is not needed.
  undo: {
    'plain DDL': { request: { method: 'DELETE', path: `/fields/items/${name}` }, ddl: ['DROP TABLE public.kept'] },
  },
});

const undoByRequest = (request: Request, ddl: string[]): Change['undo'] => ({
  online: { request },
  plainly: { request },
  'plain DDL': { ddl },
});

export const CHANGES: readonly Change[] = [
  {
    name: 'NOT NULL',
    request: field('title', { is_nullable: false }),
    ddl: ['ALTER TABLE public.items ALTER COLUMN title SET NOT NULL'],
    undo: undoByRequest(field('title', { is_nullable: true }), [
      'ALTER TABLE public.items ALTER COLUMN title DROP NOT NULL',
    ]),
  },
  {
    name: 'unique',
    request: field('code', { is_unique: true }),
    ddl: ['ALTER TABLE public.items ADD CONSTRAINT by_hand UNIQUE (code)'],
    undo: undoByRequest(field('code', { is_unique: false }), ['ALTER TABLE public.items DROP CONSTRAINT by_hand']),
  },
  {
    name: 'index',
    request: field('amount', { is_indexed: true }),
    ddl: ['CREATE INDEX by_hand ON public.items (amount)'],
    undo: undoByRequest(field('amount', { is_indexed: false }), ['DROP INDEX public.by_hand']),
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
    undo: undoByRequest({ method: 'DELETE', path: '/relations/items/owner' }, [
      'ALTER TABLE public.items DROP CONSTRAINT by_hand',
    ]),
  },
];
