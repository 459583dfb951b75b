// The styles come first and in this order, so that those of the app and of components override those of the library.
import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './app/styles.css';
import { setNonce } from 'get-nonce';
import { createRoot } from 'react-dom/client';
import { MantineProvider, type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';
import { QueryClientProvider, QueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { SessionGate } from './pages/sign-in/session-gate.js';
import { router } from './app/router.js';
import { isPassing } from './service/send.js';
import { language } from './shared/language.js';
import { onUserChange } from './service/session.js';

const iris: MantineColorsTuple = [
  '#eef0ff',
  '#dfe2ff',
  '#c3c8ff',
  '#a5abfc',
  '#8a8ff5',
  '#6f70ec',
  '#4f46e5',
  '#443acb',
  '#3a31a8',
  '#2f2985',
];

const gray: MantineColorsTuple = [
  '#f7f8fa',
  '#f0f2f5',
  '#e5e8ed',
  '#d5dae1',
  '#b9c0ca',
  '#8d95a3',
  '#69717f',
  '#4b5260',
  '#333946',
  '#1d212b',
];

const dark: MantineColorsTuple = [
  '#dfe3ea',
  '#bcc3cf',
  '#9aa2b1',
  '#7b8392',
  '#3d4350',
  '#2c313c',
  '#222730',
  '#171a21',
  '#12151b',
  '#0c0e13',
];

const theme = createTheme({
  primaryColor: 'iris',
  primaryShade: { light: 6, dark: 6 },
  colors: { iris, gray, dark },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'Inter, "Segoe UI", system-ui, -apple-system, Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  autoContrast: true,
  components: { Modal: { styles: { title: { fontSize: '1.1rem', fontWeight: 650 } } } },
});

/** Overrides colours of the library, so that dimmed text has a contrast of at least 4.5 to 1 in both colour schemes. */
const cssVariables: CSSVariablesResolver = () => ({
  variables: { '--app-rail': '76px', '--app-top': '56px' },
  light: {
    '--mantine-color-error': '#c22525',
    '--mantine-color-dimmed': '#5b6372',
    '--mantine-color-placeholder': '#69717f',
    '--mantine-color-anchor': '#443acb',
    '--app-ground': '#f4f5f8',
    '--app-surface': '#ffffff',
    '--app-line': '#e2e5ea',
    '--app-hover': '#eceef3',
    '--app-chosen': '#e6e8ff',
    '--app-chosen-text': '#352da0',
    '--replay-made': '#0c9a6e',
    '--replay-changed': '#d9730d',
    '--replay-removed': '#d63636',
    '--replay-made-ground': '#e3f6ee',
    '--replay-changed-ground': '#fdf0e0',
    '--replay-removed-ground': '#fdeaea',
  },
  dark: {
    '--mantine-color-error': '#ff9a9a',
    '--mantine-color-dimmed': '#9aa2b1',
    '--mantine-color-placeholder': '#8b93a2',
    '--mantine-color-anchor': '#a5abfc',
    '--app-ground': '#101319',
    '--app-surface': '#171a21',
    '--app-line': '#2a2f39',
    '--app-hover': '#21252e',
    '--app-chosen': '#2a2b52',
    '--app-chosen-text': '#c9ccff',
    '--replay-made': '#2fbf90',
    '--replay-changed': '#f0913a',
    '--replay-removed': '#f26d6d',
    '--replay-made-ground': '#12352b',
    '--replay-changed-ground': '#3b2915',
    '--replay-removed-ground': '#3f1f22',
  },
});

/* The query cache and its refetch rules. */

const TRIES = 3;

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < TRIES && isPassing(error),
    },
    mutations: { networkMode: 'always' },
  },
});

/** The first part of the keys of queries that do not depend on the user. */
const KEPT: readonly unknown[] = ['icon', 'resume'];

// Data of one user must not be shown to the next.
onUserChange(() => queryClient.removeQueries({ predicate: ({ queryKey }) => !KEPT.includes(queryKey[0]) }));

/** The CSP nonce for styles. Browsers hide it in the attribute but not in the property. */
const cspNonce: string = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';

/** The routes are inside the session, so every address requires a login before any page is loaded. */
function Providers() {
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={cssVariables}
      getStyleNonce={() => cspNonce}
    >
      <QueryClientProvider client={queryClient}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </QueryClientProvider>
    </MantineProvider>
  );
}

setNonce(cspNonce);
document.documentElement.lang = language;

const place = document.getElementById('app');
if (place === null) throw new Error('The page has no element with the ID "app".');
createRoot(place).render(<Providers />);
