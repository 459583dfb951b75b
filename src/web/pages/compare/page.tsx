/** Compares two points in time, as entries, as SQL or as files. */
import { Button, Group, SegmentedControl, Title, Stack, Text, Autocomplete, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery, useMutation, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ChangeObject, diffLines } from 'diff';
import downloadIcon from 'icon:download';
import { type FormEvent, useState, useMemo } from 'react';
import { momentDifferenceQuery, pastScriptQuery, batchesQuery } from '../../service/history-queries.js';
import { request } from '../../service/request.js';
import { SteadyButton } from '../../shared/buttons.js';
import { ChangeList } from '../../shared/changes/change-list.js';
import { changesOf } from '../../shared/changes/sentences.js';
import { Glyph } from '../../shared/glyph.js';
import { Time } from '../../shared/time.js';
import { Page, useTitle } from '../../shared/page.js';
import { QueryResult, ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import { saveText } from '../../shared/save.js';
import { SnapshotMenu } from '../../shared/snapshot/snapshot-menu.js';
import { abbreviate, visibleSql, localOf } from '../../shared/text.js';
import { parsePoint, NOW, pointAt, type CompareSearch, type View } from './search.js';
import { messages } from './messages.js';
import classes from './sql-difference.module.css';

/** Maximum time of the comparison in milliseconds. */
const LONGEST = 2_000;

/** Number of unchanged lines that are shown around a change. */
const AROUND = 3;

/**
 * Shows the difference as SQL. Shows a message for equal texts, and for texts that take longer than two seconds to
 * compare.
 * @param props.from a position, a time or `now`. The same applies to `to`
 */
function SqlDifference({ from, to }: { from: string; to: string }) {
  const before = useQuery(pastScriptQuery(from));
  const after = useQuery(pastScriptQuery(to));
  const parts = useMemo(
    () =>
      before.data === undefined || after.data === undefined
        ? null
        : difference(visibleSql(before.data), visibleSql(after.data)),
    [before.data, after.data],
  );
  const error = before.error ?? after.error;
  if (error !== null) return <ProblemAlert error={error} />;
  if (parts === null) return <LoadingIndicator label={messages.comparing} height="160px" />;
  if (parts === undefined) return <Text>{messages.sql.tooDifferent}</Text>;
  if (!parts.some(isChange)) return <Text c="dimmed">{messages.sql.identical}</Text>;
  return (
    <pre className={classes.script} tabIndex={0} aria-label={messages.sql.label}>
      {parts.map((part, index) => (
        // oxlint-disable-next-line
        <Part key={index} part={part} />
      ))}
    </pre>
  );
}

const difference = (before: string, after: string): ChangeObject<string>[] | undefined =>
  diffLines(before, after, { timeout: LONGEST });

const isChange = ({ added, removed }: ChangeObject<string>): boolean => added || removed;

function Part({ part }: { part: ChangeObject<string> }) {
  if (part.added) return <ins className={classes.added}>{markLines(part.value, '+ ')}</ins>;
  if (part.removed) return <del className={classes.removed}>{markLines(part.value, '− ')}</del>;
  return <span className={classes.same}>{markLines(shortenText(part.value), '  ')}</span>;
}

const markLines = (text: string, mark: string): string =>
  linesOf(text)
    .map((line) => `${mark}${line}\n`)
    .join('');

function shortenText(text: string): string {
  const lines = linesOf(text);
  if (lines.length <= 2 * AROUND + 1) return text;
  return [...lines.slice(0, AROUND), '⋯', ...lines.slice(-AROUND)].join('\n');
}

const linesOf = (text: string): string[] => (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');

/* Downloads for both points in time and their difference. */

/** @param props.from a position, a time or `now`. The same applies to `to` */
function Files({ from, to }: { from: string; to: string }) {
  const save = useMutation({
    mutationFn: async () => {
      const diff = await request('diffMoments', { query: { from, to } });
      saveText(`diff-${from}-${to}.json`, 'application/json', JSON.stringify(diff, null, 2));
    },
  });
  return (
    <Stack>
      <Group>
        <Text size="sm" w={220}>
          {messages.files.difference}
        </Text>
        <SteadyButton
          size="xs"
          variant="default"
          loading={save.isPending}
          leftSection={<Glyph path={downloadIcon} size={16} />}
          onClick={() => save.mutate()}
        >
          {messages.files.differenceAsJson}
        </SteadyButton>
      </Group>
      {[from, to].map((at) => (
        <Group key={at}>
          <Text size="sm" w={220}>
            {at === 'now' ? messages.point.currentSchema : messages.files.schemaAt(at)}
          </Text>
          <SnapshotMenu at={at} />
        </Group>
      ))}
      {save.error && <ProblemAlert error={save.error} />}
    </Stack>
  );
}

const route = getRouteApi('/timeline/compare');

const VIEWS = [
  { value: 'entries', label: messages.views.entries },
  { value: 'sql', label: messages.views.sql },
  { value: 'files', label: messages.views.files },
];

export function ComparePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { from = 0, to = 'now', as = 'entries' } = search;
  useTitle(messages.tabTitle(String(from), String(to)));
  const change = (changed: CompareSearch) =>
    void navigate({ search: (before: CompareSearch) => ({ ...before, ...changed }), replace: true });
  const moments = { from: String(from), to: String(to) };
  return (
    <Page>
      <Title order={1} size="h3">
        {messages.title}
      </Title>
      <Moments key={`${from} ${to}`} {...moments} onChange={change} />
      <SegmentedControl
        role="radiogroup"
        aria-label={messages.format}
        data={VIEWS}
        value={as}
        onChange={(view) => change({ as: view as View })}
        mb="md"
      />
      {as === 'entries' && <Entries {...moments} />}
      {as === 'sql' && <SqlDifference {...moments} />}
      {as === 'files' && <Files {...moments} />}
    </Page>
  );
}

interface ComparedPoints {
  from: string;
  to: string;
}

function Moments({ from, to, onChange }: ComparedPoints & { onChange: (changed: CompareSearch) => void }) {
  const [submitted, setGiven] = useState({ from, to });
  const [isChecked, setChecked] = useState(false);
  const points = { from: parsePoint(submitted.from), to: parsePoint(submitted.to) };
  const isKnown = points.from !== null && points.to !== null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setChecked(true);
    if (isKnown) onChange(points as CompareSearch);
  };
  const box = (name: keyof ComparedPoints, label: string) => (
    <PointInput
      label={label}
      value={submitted[name]}
      error={isChecked && points[name] === null ? messages.point.unknown : undefined}
      onChange={(value) => setGiven({ ...submitted, [name]: value })}
    />
  );
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" my="md">
        {box('from', messages.from)}
        {box('to', messages.to)}
        <Group gap="sm">
          <Button type="submit" variant="default">
            {messages.compare}
          </Button>
          <Button
            variant="subtle"
            disabled={!isKnown}
            onClick={() => onChange({ from: points.to, to: points.from } as CompareSearch)}
          >
            {messages.swap}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Entries(moments: ComparedPoints) {
  const loaded = useQuery(momentDifferenceQuery(moments.from, moments.to));
  return (
    <QueryResult query={loaded} label={messages.comparing}>
      {({ diff }) => <ChangeList changes={changesOf(diff)} hasTotal />}
    </QueryResult>
  );
}

/* Chooses a point in time: a change from a list, a date and time, or the current schema. */

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
    <Group gap="xs" align="flex-start" role="group" aria-label={messages.point.group(label)}>
      <Autocomplete
        label={label}
        description={chosen === undefined ? messages.point.help : abbreviate(chosen.summary, 60)}
        w={{ base: '100%', xs: 420 }}
        spellCheck={false}
        clearable
        clearButtonProps={{ 'aria-label': messages.point.clear(label) }}
        error={error}
        value={value}
        data={point === null ? [...(q === undefined ? [NOW] : []), ...batches.keys()] : []}
        // The service has filtered the changes already.
        filter={({ options }) => options}
        maxDropdownHeight={320}
        renderOption={({ option }) => {
          const batch = batches.get(option.value);
          if (batch === undefined) return <Text size="sm">{messages.point.currentSchema}</Text>;
          return (
            <div>
              <Text size="sm">{abbreviate(batch.summary, 80)}</Text>
              <Text size="xs" c="dimmed">
                {messages.point.event(option.value, <Time at={batch.occurred_at} />)}
                {batch.reason !== null && `: ${abbreviate(batch.reason, 60)}`}
              </Text>
            </div>
          );
        }}
        onChange={onChange}
      />
      <TextInput
        type="datetime-local"
        label={messages.point.dateAndTime(label)}
        description={messages.point.schemaAtTime}
        w={{ base: '100%', xs: 220 }}
        value={time}
        onChange={(event) => onChange(pointAt(event.currentTarget.value) ?? '')}
      />
    </Group>
  );
}
