/** The tree of collections, and beside it the diagram. */
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
  /** Of a moment of the past. */
  past?: { film: Film; marks: Marks; bar: ReactNode };
  /** Of the present: what the tree shows beyond the diagram. */
  tree?: DraftedTree;
  /** Goes to what isn't in the diagram; false: it is. */
  elsewhere?: (collection: string) => boolean;
}

type DraftedTree = Pick<TreePanelProps, 'collections' | 'marks' | 'onMove'>;

/**
 * On a narrow screen one of the two, with a switch. Choosing a collection is a step to go back from, all else isn't.
 */
export function Whole({ collections, past, tree, elsewhere = () => false }: WholeProps) {
  const mayGoBack = useMay('readHistory');

  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isNarrow = useMediaQuery('(max-width: 48em)');
  const [part, setPart] = useState<string>(search.c === undefined ? 'tree' : 'diagram');
  // What is chosen is a step that one goes back from; how it is looked at isn't.
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
          aria-label="Part of the page"
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
        <Suspense fallback={<Waiting label="Reading the schema" />}>
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
