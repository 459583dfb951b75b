import { SegmentedControl, Text, Title } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useDraftedCollections } from '../../draft/store.js';
import classes from '../../editing/editor-frame.module.css';
import { FormName } from '../../editing/use-keep.js';
import { NewCollectionForm } from '../../editing/new-collection-form.js';
import { useMay } from '../../service/session.js';
import { Answered } from '../../shared/problem-alert.js';
import { Page, useTitle } from '../../shared/page.js';

const route = getRouteApi('/new');

const KINDS = [
  { value: 'collection', label: 'Collection' },
  { value: 'folder', label: 'Folder' },
];

/** For admins and authors; others see a message. Opens the created object; cancel returns to the schema. */
export function NewPage() {
  const { as, group = null } = route.useSearch();
  const replace = route.useNavigate();
  const navigate = useNavigate();
  const collections = useDraftedCollections();
  useTitle('New collection');
  if (!useMay('propose')) return <Text p="lg">Only admins and authors can create collections.</Text>;
  return (
    <Page>
      <Title order={1} size="h3">
        New {as ?? 'collection'}
      </Title>
      <Text c="dimmed" size="sm" mt={4} mb="md">
        {as === 'folder'
          ? 'A folder groups collections and has no table.'
          : 'A table with a primary key. You add fields next.'}
      </Text>
      <SegmentedControl
        role="radiogroup"
        aria-label="Kind"
        data={KINDS}
        value={as ?? 'collection'}
        onChange={(kind) =>
          void replace({
            search: { ...(kind === 'folder' && { as: kind }), ...(group !== null && { group }) },
            replace: true,
          })
        }
      />
      <div className={classes.page}>
        <Answered query={collections} label="Loading the collections">
          {(all) => (
            <FormName value={`new ${as ?? 'collection'}`}>
              <NewCollectionForm
                isFolder={as === 'folder'}
                group={group}
                taken={all.filter(({ how }) => how !== 'removed').map(({ document }) => document.collection)}
                onDone={(name) => void navigate({ to: '/collections/$name', params: { name } })}
                onCancel={() => void navigate({ to: '/' })}
              />
            </FormName>
          )}
        </Answered>
      </div>
    </Page>
  );
}
