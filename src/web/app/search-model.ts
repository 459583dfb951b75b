/** The input and output of the search. */
import type { NavigateOptions } from '@tanstack/react-router';
import type { FieldDocument, ListedCollection } from '../service/types.js';
import type { PARTS, PageEntry } from './pages.js';
import type { Heading } from 'docs:headings';

export interface SearchHit {
  kind: 'page' | 'collection' | 'field' | 'guide' | 'action' | 'history';
  key: string;
  label: string;
  description: string;
  icon: string | null;
  to: NavigateOptions;
}

export interface Searched {
  pages: readonly PageEntry[];
  parts: typeof PARTS;
  /** Headings of the guides. */
  headings: readonly Heading[];
  collections: readonly ListedCollection[];
  fields: readonly Pick<FieldDocument, 'collection' | 'field' | 'type'>[];
  /** Includes actions that change the schema. */
  mayEdit: boolean;
  /** Includes the timeline, which searches reasons and actors. */
  mayReadHistory: boolean;
  /** The collection of the open page. */
  here: string | undefined;
}
