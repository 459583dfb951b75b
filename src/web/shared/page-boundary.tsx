/** Keeps the frame if a page cannot be loaded or rendered. */
import { Box } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { ProblemAlert } from './problem-alert.js';

interface State {
  error: Error | null;
}

/** Shows the error until a reload, on any address. */
export class PageBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Box p="lg">
        <ProblemAlert error={error} retry={() => location.reload()} />
      </Box>
    );
  }
}
