/** Keeps the frame where a page can't be drawn or loaded. */
import { Box } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { ProblemAlert } from './problem-alert.js';

interface State {
  error: Error | null;
}

/** What it caught stays until the page is loaded again, whatever address is gone to. */
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
