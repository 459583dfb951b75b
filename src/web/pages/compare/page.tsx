/** Compares two points in time: as entries, as SQL, as files. */
import { Button, Group, SegmentedControl, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { momentDifferenceQuery } from '../../service/history-queries.js';
import { Answered } from '../../shared/answered.js';
import { ChangeList } from '../../shared/changes/change-list.js';
import { changesOf } from '../../shared/changes/sentences.js';
import { Page } from '../../shared/page.js';
import { useTitle } from '../../shared/page-title.js';
import { Files } from './files.js';
import { type CompareSearch, type View } from './search.js';
import { SqlDifference } from './sql-difference.js';

const route = getRouteApi('/timeline/compare');

const VIEWS = [
  { value: 'entries', label: 'Entries' },
  { value: 'sql', label: 'SQL' },
  { value: 'files', label: 'Files' },
];

export function ComparePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { from = 0, to = 'now', as = 'entries' } = search;
  useTitle(`${from} to ${to}`);
  const change = (changed: CompareSearch) =>
    void navigate({ search: (before: CompareSearch) => ({ ...before, ...changed }), replace: true });
  const moments = { from: String(from), to: String(to) };
  return (
    <Page>
      <Title order={1} size="h3">
        Compare two points in time
      </Title>
      <Moments key={`${from} ${to}`} {...moments} onChange={change} />
      <SegmentedControl
        role="radiogroup"
        aria-label="Format"
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

interface Both {
  from: string;
  to: string;
}

function Moments({ from, to, onChange }: Both & { onChange: (changed: CompareSearch) => void }) {
  const [given, setGiven] = useState({ from, to });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChange({ from: asMoment(given.from), to: asMoment(given.to) });
  };
  const box = (name: keyof Both, label: string) => (
    <TextInput
      label={label}
      w={220}
      spellCheck={false}
      value={given[name]}
      onChange={(event) => setGiven({ ...given, [name]: event.currentTarget.value })}
    />
  );
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm" my="md">
        {box('from', 'From')}
        {box('to', 'To')}
        <Button type="submit" variant="default">
          Compare
        </Button>
        <Button variant="subtle" onClick={() => onChange({ from: asMoment(to), to: asMoment(from) })}>
          Swap
        </Button>
      </Group>
    </form>
  );
}

/** A position is a number, so that the address needs no quotes. */
const asMoment = (text: string): string | number => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : text.trim());

function Entries(moments: Both) {
  const found = useQuery(momentDifferenceQuery(moments.from, moments.to));
  return (
    <Answered query={found} label="Comparing">
      {({ diff }) => <ChangeList changes={changesOf(diff)} />}
    </Answered>
  );
}
