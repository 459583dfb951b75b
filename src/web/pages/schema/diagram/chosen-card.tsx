import closeIcon from 'icon:close';
import tableIcon from 'icon:table';
import folderIcon from 'icon:folder';
import { ActionIcon, Badge, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { counted } from '../../../shared/amounts.js';
import { fieldsQuery, relationsQuery } from '../../../service/queries.js';
import type { ListedCollection } from '../../../service/types.js';
import { brief } from '../../../shared/brief.js';
import { Glyph } from '../../../shared/glyph.js';
import { MaterialIcon } from '../../../shared/material-icon.js';
import { inkOf } from '../color.js';
import type { Film } from '../film/use-film.js';
import type { SchemaSearch } from '../search.js';
import classes from './diagram.module.css';

interface Props {
  collections: readonly ListedCollection[];
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
  film?: Film | undefined;
}

/**
 * Renders nothing without a selection, or if it does not exist at that point.
 * @param props.onChange called with undefined to clear the selection
 */
export function ChosenCard({ collections, search, onChange, film }: Props) {
  const found = collections.find(({ collection }) => collection === search.c);
  if (found === undefined) return null;
  const { collection, meta, schema } = found;
  return (
    <aside className={classes.card} aria-label={`About ${collection}`}>
      <Group wrap="nowrap" gap="xs" align="center">
        <span style={{ color: inkOf(meta.color), display: 'grid' }}>
          <MaterialIcon name={meta.icon} otherwise={schema === null ? folderIcon : tableIcon} />
        </span>
        <Text fw={600} truncate flex={1} component="h2" size="md">
          {collection}
        </Text>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Clear selection"
          onClick={() => onChange({ c: undefined, near: undefined })}
        >
          <Glyph path={closeIcon} size={18} />
        </ActionIcon>
      </Group>
      {meta.note !== null && (
        <Text size="sm" c="dimmed" mt={4} lineClamp={3}>
          {brief(meta.note, 300)}
        </Text>
      )}
      <Group gap={6} mt="sm">
        {schema === null ? <Fact>folder</Fact> : film === undefined && <Facts collection={collection} />}
        {film && schema !== null && <PastFacts collection={collection} film={film} />}
        {meta.singleton && <Fact>singleton</Fact>}
        {meta.hidden && <Fact>hidden</Fact>}
      </Group>
      <Button
        component={Link}
        to="/collections/$name"
        params={{ name: collection } as never}
        size="xs"
        fullWidth
        mt="sm"
      >
        Open
      </Button>
    </aside>
  );
}

function Facts({ collection }: { collection: string }) {
  const fields = useQuery(fieldsQuery(collection));
  const relations = useQuery(relationsQuery());
  const out = relations.data?.filter((each) => each.collection === collection).length;
  const into = relations.data?.filter((each) => each.related_collection === collection).length;
  return (
    <>
      {fields.data && <Fact>{counted(fields.data.length, 'field')}</Fact>}
      {out !== undefined && out > 0 && <Fact>{counted(out, 'outgoing relation')}</Fact>}
      {into !== undefined && into > 0 && <Fact>{counted(into, 'incoming relation')}</Fact>}
    </>
  );
}

function PastFacts({ collection, film: { moment } }: { collection: string; film: Film }) {
  const count = moment.fields?.get(collection)?.size;
  return count === undefined ? null : <Fact>{counted(count, 'field')} at that time</Fact>;
}

function Fact({ children }: { children: ReactNode }) {
  return (
    <Badge variant="default" tt="none" fw={500}>
      {children}
    </Badge>
  );
}
