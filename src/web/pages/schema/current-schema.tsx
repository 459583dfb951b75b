/** The current schema, with the draft in the tree. The diagram shows it without the draft. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Collection } from '../../../schema/model/model.js';
import type { Drafted } from '../../draft/drafted.js';
import { listedOf } from '../../draft/listed.js';
import { editSchema } from '../../draft/use-drafted.js';
import type { ListedCollection } from '../../service/types.js';
import { useMay } from '../../service/use-session.js';
import { draftMarks, moving } from './drafted-tree.js';
import { Whole } from './schema-view.js';

interface Props {
  collections: readonly ListedCollection[];
  drafted: readonly Drafted<Collection>[];
}

/**
 * Drafted objects open as a page. Moving is for users who may propose.
 * @param props.collections those of the diagram
 * @param props.drafted those of the tree
 */
export function Present({ collections, drafted }: Props) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const mayEdit = useMay('propose');
  const marks = useMemo(() => draftMarks(drafted), [drafted]);
  const listed = useMemo(() => drafted.map(({ document }) => listedOf(document)), [drafted]);
  const there = useMemo(() => new Set(collections.map(({ collection }) => collection)), [collections]);
  const tree = {
    collections: listed,
    marks: { collections: marks },
    onMove: mayEdit
      ? ({ node, place }: { node: { collection: ListedCollection }; place: number }, by: number) =>
          void editSchema(client, [], moving(listed, node.collection, place - 1 + by))
      : undefined,
  };
  /** Objects outside the diagram have their page. */
  const elsewhere = (name: string) => {
    if (there.has(name)) return false;
    void navigate({ to: '/collections/$name', params: { name } });
    return true;
  };
  return <Whole collections={collections} tree={tree} elsewhere={elsewhere} />;
}
