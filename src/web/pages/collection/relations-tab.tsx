import addIcon from 'icon:add_link';
import moreIcon from 'icon:more_vert';
import { ActionIcon, Badge, Button, Menu, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { NewRelation } from '../../../schema/model/model.js';
import { type MarkedDocument } from '../../draft/marked-documents.js';
import { discard } from '../../draft/edits.js';
import { MarkBadge } from '../../draft/draft-bar.js';
import { memberKey } from '../../draft/model.js';
import { editDraft, useDraftedRelations } from '../../draft/store.js';
import { Glyph } from '../../shared/glyph.js';
import { ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import type { EditName } from '../../editing/edit-names.js';
import { named } from '../../shared/name.js';
import classes from './page.module.css';

type OnEdit = ((edit: EditName, of?: string) => void) | null;

/**
 * Shows the relations on both sides. A relation of the collection to itself is in both parts, and a many-to-any
 * relation is shown at each target.
 * @param props.onEdit null if the user may not edit, or if there is no table. `of` is a `memberKey`
 */
export function RelationsTab({ collection, onEdit }: { collection: string; onEdit: OnEdit }) {
  const { data: relations, error, refetch } = useDraftedRelations();
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (relations === undefined) return <LoadingIndicator label="Loading the relations" height="200px" />;
  const out = relations.filter(({ document }) => document.many_collection === collection);
  const into = relations.filter(
    ({ document: { one_collection: one, one_allowed_collections: allowed } }) =>
      one === collection || allowed?.includes(collection),
  );
  return (
    <Stack gap="xl">
      {onEdit !== null && (
        <Button
          size="xs"
          w="fit-content"
          leftSection={<Glyph path={addIcon} size={18} />}
          onClick={() => onEdit('new-relation')}
        >
          New relation
        </Button>
      )}
      <RelationsTabPart
        title="Outgoing"
        relations={out}
        empty="No field references another collection."
        onEdit={onEdit}
      />
      <RelationsTabPart title="Incoming" relations={into} empty="No collection references this one." onEdit={onEdit} />
    </Stack>
  );
}

interface PartProps {
  title: string;
  relations: readonly MarkedDocument<NewRelation>[];
  empty: string;
  onEdit: OnEdit;
}

function RelationsTabPart({ title, relations, empty, onEdit }: PartProps) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {relations.length === 0 ? (
        <Text size="sm" c="dimmed">
          {empty}
        </Text>
      ) : (
        <div className={classes.scroller} role="region" aria-label={named`${title} relations`} tabIndex={0}>
          <table className={classes.table}>
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Related collection</th>
                <th scope="col">Reverse field</th>
                <th scope="col">Foreign key</th>
                {onEdit !== null && (
                  <th scope="col" className={classes.menu}>
                    <VisuallyHidden component="span">Actions</VisuallyHidden>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {relations.map((drafted) => (
                <Row
                  key={memberKey(drafted.document.many_collection, drafted.document.many_field)}
                  drafted={drafted}
                  onEdit={onEdit}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ drafted, onEdit }: { drafted: MarkedDocument<NewRelation>; onEdit: OnEdit }) {
  const { document, mark } = drafted;
  const { many_collection: many, many_field: field, one_collection: one, schema } = document;
  const targets = one === null ? (document.one_allowed_collections ?? []) : [one];
  return (
    <tr data-mark={mark}>
      <th scope="row">
        <Link to="/collections/$name" params={{ name: many }} search={{ field }}>
          {many}.{field}
        </Link>{' '}
        <MarkBadge mark={mark} />
      </th>
      <td>
        {targets.map((target, index) => (
          <span key={target}>
            {index > 0 && ', '}
            <Link to="/collections/$name" params={{ name: target }}>
              {target}
            </Link>
          </span>
        ))}
        {one === null && <div className={classes.quiet}>one of these, named in {document.one_collection_field}</div>}
        {document.junction_field !== null && (
          <div className={classes.quiet}>many to many, through {document.junction_field}</div>
        )}
      </td>
      <td>{document.one_field ?? <span className={classes.quiet}>none</span>}</td>
      <td>{schema === null ? <span className={classes.quiet}>none</span> : <Key schema={schema} />}</td>
      {onEdit !== null && (
        <td className={classes.menu}>
          <RelationMenu drafted={drafted} onEdit={onEdit} />
        </td>
      )}
    </tr>
  );
}

function Key({ schema }: { schema: NonNullable<NewRelation['schema']> }) {
  return (
    <>
      {/* The service chooses the name of a foreign key in the draft. */}
      <div>{(schema.constraint_name as string | undefined) ?? 'new foreign key'}</div>
      <Badge variant="default" tt="none" fw={500} size="xs" mr={4}>
        on delete {schema.on_delete.toLowerCase()}
      </Badge>
      {schema.on_update !== 'NO ACTION' && (
        <Badge variant="default" tt="none" fw={500} size="xs">
          on update {schema.on_update.toLowerCase()}
        </Badge>
      )}
    </>
  );
}

function RelationMenu({
  drafted: { document, mark },
  onEdit,
}: {
  drafted: MarkedDocument<NewRelation>;
  onEdit: NonNullable<OnEdit>;
}) {
  const key = memberKey(document.many_collection, document.many_field);
  return (
    <Menu position="bottom-end" width={200} shadow="md">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={named`Actions for ${document.many_collection}.${document.many_field}`}
        >
          <Glyph path={moreIcon} size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {mark !== 'removed' && <Menu.Item onClick={() => onEdit('relation', key)}>Edit …</Menu.Item>}
        {mark !== undefined && (
          <Menu.Item onClick={() => editDraft((draft) => discard(draft, 'relations', key))}>
            {mark === 'removed' ? 'Undo deletion' : 'Discard changes'}
          </Menu.Item>
        )}
        {mark !== 'removed' && (
          <Menu.Item color="red" onClick={() => onEdit('delete-relation', key)}>
            Delete …
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
