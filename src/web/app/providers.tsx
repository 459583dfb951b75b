import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { SessionGate } from '../pages/sign-in/session-gate.js';
import { cspNonce } from './nonce.js';
import { queryClient } from '../service/query-client.js';
import { router } from './router.js';
import { cssVariables, theme } from './theme.js';

/** Routes are inside the session: every address asks for a login first, and no page is loaded before. */
export function Providers() {
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
