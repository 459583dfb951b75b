import { SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { ListedCollection } from '../../service/types.js';
import { useMay } from '../../service/use-session.js';
import { Waiting } from '../../shared/waiting.js';
import type { Marks } from './film/marks.js';
import type { Film } from './film/use-film.js';
import type { SchemaSearch } from './search.js';
import { type TreePanelProps, TreePanel } from './tree-panel.js';
import classes from './page.module.css';

const Diagram = lazy(() => import('./diagram/diagram.js'));
const route = getRouteApi('/');

interface WholeProps {
  collections: readonly ListedCollection[];
  /** Set in the past. */
  past?: { film: Film; marks: Marks; bar: ReactNode };
  /** Set in the present: extras of the tree. */
  tree?: DraftedTree;
  /** Opens an object outside the diagram; false if it is in the diagram. */
  elsewhere?: (collection: string) => boolean;
}

type DraftedTree = Pick<TreePanelProps, 'collections' | 'marks' | 'onMove'>;

/**
 * Narrow screens show one of the two with a switch. Selecting a collection adds a history entry; other changes do
 * not.
 */
export function Whole({ collections, past, tree, elsewhere = () => false }: WholeProps) {
  const mayGoBack = useMay('readHistory');

  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isNarrow = useMediaQuery('(max-width: 48em)');
  const [part, setPart] = useState<string>(search.c === undefined ? 'tree' : 'diagram');
  // A selection adds a history entry; view options do not.
  const change = (changed: Partial<SchemaSearch>) =>
    void navigate({ search: (before: SchemaSearch) => ({ ...before, ...changed }), replace: !('c' in changed) });
  const choose = (c: string) => {
    if (elsewhere(c)) return;
    change({ c });
    setPart('diagram');
  };
  const shows = (which: string): boolean => !isNarrow || part === which;
  return (
    <div className={classes.page} data-past={past !== undefined || undefined}>
      <h1 className={classes.title}>Schema</h1>
      {isNarrow && (
        <SegmentedControl
          className={classes.parts}
          role="radiogroup"
          aria-label="View"
          data={PARTS}
          value={part}
          onChange={setPart}
        />
      )}
      {shows('tree') && (
        <TreePanel
          collections={collections}
          search={search}
          onChange={change}
          onChoose={choose}
          marks={past?.marks}
          {...tree}
        />
      )}
      {shows('diagram') && (
        <Suspense fallback={<Waiting label="Loading the schema" />}>
          <Diagram
            collections={collections}
            search={search}
            onChange={change}
            film={past?.film}
            mayGoBack={mayGoBack}
          />
        </Suspense>
      )}
      {past?.bar}
    </div>
  );
}

const PARTS = [
  { value: 'tree', label: 'Collections' },
  { value: 'diagram', label: 'Diagram' },
];
