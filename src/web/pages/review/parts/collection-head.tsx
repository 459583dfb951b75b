import { Checkbox, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { relationsQuery } from '../../../service/queries.js';
import { latelyQuery } from '../../../service/review-queries.js';
import { Time } from '../../../shared/time.js';
import { useMay } from '../../../service/use-session.js';
import type { Item } from '../model/items.js';
import type { LockedTable } from '../model/plan.js';
import { sizeText } from '../../../shared/amounts.js';
import type { Review } from '../use-review.js';
import classes from './parts.module.css';

interface Props {
  collection: string;
  items: readonly Item[];
  review: Review;
  table: LockedTable | undefined;
  canChoose: boolean;
}

/**
 * A new collection has neither size nor history.
 * @param props.table from the plan's locks; undefined if not locked, so its size is unknown
 */
export function CollectionHead({ collection, items, review, table, canChoose }: Props) {
  const out = items.filter(({ key }) => review.leftOut.has(key)).length;
  const keys = items.flatMap(({ key, members }) => [key, ...members.map((member) => member.key)]);
  return (
    <div className={classes.head}>
      <Group gap="xs" wrap="nowrap">
        {canChoose && items.length > 1 && (
          <Checkbox
            size="sm"
            checked={out === 0}
            indeterminate={out > 0 && out < items.length}
            aria-label={`Include all changes of ${collection}`}
            onChange={(event) => review.leave(keys, !event.currentTarget.checked)}
          />
        )}
        <h2 className={classes.collection}>
          <bdi>{collection}</bdi>
        </h2>
      </Group>
      {items.some(({ part, how }) => part === 'collections' && how === 'made') ? null : (
        <Hits collection={collection} table={table} />
      )}
    </div>
  );
}

/** The effect of changing it. */
function Hits({ collection, table }: { collection: string; table: LockedTable | undefined }) {
  const { data: relations = [] } = useQuery(relationsQuery());
  const { data: lately } = useQuery({ ...latelyQuery(collection), enabled: useMay('readHistory') });
  const leading = relations.filter((each) => each.related_collection === collection && each.collection !== collection);
  const from = [...new Set(leading.map((each) => each.collection))];
  const size = table === undefined ? null : sizeText(table);
  const [last] = lately ?? [];
  return (
    <p className={classes.hits}>
      {size !== null && <span>{size}</span>}
      {from.length > 0 && (
        <span title={from.slice(0, 20).join(', ')}>
          {from.length === 1 ? `referenced by ${from[0]}` : `referenced by ${from.length} collections`}
        </span>
      )}
      {last !== undefined && (
        <span>
          <Link to="/timeline" search={{ collection }}>
            changed <Time at={last.occurred_at} /> by {last.actor.name}
          </Link>
        </span>
      )}
    </p>
  );
}
