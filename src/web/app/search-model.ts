/** What is searched, and what is found. */
import type { NavigateOptions } from '@tanstack/react-router';
import type { FieldDocument, ListedCollection } from '../service/types.js';
import type { PARTS, PageEntry } from './pages.js';
import type { Heading } from 'docs:headings';

export interface SearchHit {
  kind: 'page' | 'collection' | 'field' | 'guide' | 'action' | 'history';
  key: string;
  label: string;
  description: string;
  /** Its Material name, of a collection. */
  icon: string | null;
  to: NavigateOptions;
}

export interface Searched {
  pages: readonly PageEntry[];
  parts: typeof PARTS;
  /** Of the guides. */
  headings: readonly Heading[];
  collections: readonly ListedCollection[];
  fields: readonly Pick<FieldDocument, 'collection' | 'field' | 'type'>[];
  /** Changing the schema is offered as well. */
  mayEdit: boolean;
  /** The timeline is offered, which is searched by reasons and names. */
  mayReadHistory: boolean;
  /** The collection whose page is open. */
  here: string | undefined;
}
