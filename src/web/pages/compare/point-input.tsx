/* Chooses a point in time: a change from a list, a date and time, or the current schema. */
import { Autocomplete, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { batchesQuery } from '../../service/history-queries.js';
import { localOf } from '../../shared/local-time.js';
import { abbreviate } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import { NOW, parsePoint, pointAt } from './point.js';
import { named } from '../../shared/name.js';

/** Milliseconds without input after which the changes are searched. */
const TYPING = 350;

interface Props {
  label: string;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** The list contains the last changes, or those whose reason or names contain the typed text. It is hidden for a point in time. */
export function PointInput({ label, value, error, onChange }: Props) {
  const [typed] = useDebouncedValue(value, TYPING);
  const q = parsePoint(typed) === null && typed.trim() !== '' ? typed.trim() : undefined;
  const { data } = useInfiniteQuery(batchesQuery({ q }));
  const batches = new Map(
    (data?.pages ?? []).flatMap((page) => page.data).map((each) => [String(each.last_position), each]),
  );
  const chosen = batches.get(value);
  const point = parsePoint(value);
  const time = typeof point === 'string' && point !== NOW ? localOf(point) : '';
  return (
    <Group gap="xs" align="flex-start" role="group" aria-label={named`${label}: point in time`}>
      <Autocomplete
        label={label}
        description={
          chosen === undefined
            ? 'Search a change, or enter an event number, a date or “now”'
            : abbreviate(chosen.summary, 60)
        }
        w={280}
        spellCheck={false}
        clearable
        clearButtonProps={{ 'aria-label': named`Clear: ${label}` }}
        error={error}
        value={value}
        data={point === null ? [...(q === undefined ? [NOW] : []), ...batches.keys()] : []}
        // The service has filtered the changes already.
        filter={({ options }) => options}
        maxDropdownHeight={320}
        renderOption={({ option }) => {
          const batch = batches.get(option.value);
          if (batch === undefined) return <Text size="sm">Current schema</Text>;
          return (
            <div>
              <Text size="sm">{abbreviate(batch.summary, 80)}</Text>
              <Text size="xs" c="dimmed">
                event {option.value}, <Time at={batch.occurred_at} />
                {batch.reason !== null && `: ${abbreviate(batch.reason, 60)}`}
              </Text>
            </div>
          );
        }}
        onChange={onChange}
      />
      <TextInput
        type="datetime-local"
        label={`${label}: date and time`}
        description="The schema at that time"
        w={220}
        value={time}
        onChange={(event) => onChange(pointAt(event.currentTarget.value) ?? '')}
      />
    </Group>
  );
}
