/** Where the collection's relations lead, and what leads to it. */
import { Badge, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { relationsQuery } from '../../service/queries.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Waiting } from '../../shared/waiting.js';
import type { ShownRelation } from '../schema/diagram/graph.js';
import classes from './page.module.css';

export function RelationsTab({ collection }: { collection: string }) {
  const { data: relations, error, refetch } = useQuery(relationsQuery());
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  if (relations === undefined) return <Waiting label="Reading the relations" height="200px" />;
  const out = relations.filter((relation) => relation.collection === collection);
  const into = relations.filter(
    ({ related_collection: one, meta }) => one === collection || meta.one_allowed_collections?.includes(collection),
  );
  return (
    <Stack gap="xl">
      <Part title="From here" relations={out} empty="None of its fields leads to another collection." />
      <Part title="To here" relations={into} empty="No other collection leads to it: nothing depends on it." />
    </Stack>
  );
}

function Part({ title, relations, empty }: { title: string; relations: readonly ShownRelation[]; empty: string }) {
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
        <div className={classes.scroller} role="region" aria-label={`Relations ${title.toLowerCase()}`} tabIndex={0}>
          <table className={classes.table}>
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Leads to</th>
                <th scope="col">Seen from there as</th>
                <th scope="col">Kept by</th>
              </tr>
            </thead>
            <tbody>
              {relations.map((relation) => (
                <Row key={`${relation.collection} ${relation.field}`} relation={relation} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ relation: { collection, field, related_collection: one, meta, schema } }: { relation: ShownRelation }) {
  const targets = one === null ? (meta.one_allowed_collections ?? []) : [one];
  return (
    <tr>
      <th scope="row">
        <Link to="/collections/$name" params={{ name: collection }} search={{ field }}>
          {collection}.{field}
        </Link>
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
        {one === null && <div className={classes.quiet}>one of these, as {meta.one_collection_field} says</div>}
        {meta.junction_field !== null && <div className={classes.quiet}>many to many, by {meta.junction_field}</div>}
      </td>
      <td>{meta.one_field ?? <span className={classes.quiet}>nothing</span>}</td>
      <td>
        {schema === null ? (
          <span className={classes.quiet}>no foreign key</span>
        ) : (
          <>
            <div>{schema.constraint_name}</div>
            <Badge variant="default" tt="none" fw={500} size="xs" mr={4}>
              on delete {schema.on_delete.toLowerCase()}
            </Badge>
            {schema.on_update !== 'NO ACTION' && (
              <Badge variant="default" tt="none" fw={500} size="xs">
                on update {schema.on_update.toLowerCase()}
              </Badge>
            )}
          </>
        )}
      </td>
    </tr>
  );
}
