/** A snapshot that somebody brought: of this service at another time, of another environment, or the peer's. */
import { Button, Group, Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RefusedError } from '../../../service/errors.js';
import { compareFile } from '../../../service/review-queries.js';
import { Answered } from '../../../shared/answered.js';
import { Page } from '../../../shared/page.js';
import { Frame } from '../parts/frame.js';
import type { ReviewSearch } from '../search.js';
import { Workspace } from '../workspace.js';
import { type BroughtFile, broughtFile } from './files.js';
import { STILL } from './past-source.js';

interface Props {
  search: ReviewSearch & { file: string };
  onChange: (changed: Partial<ReviewSearch>) => void;
}

export function FileSource(props: Props) {
  const { file: id } = props.search;
  const kept = useQuery({ ...STILL, queryKey: ['file', id], queryFn: () => broughtFile(id) });
  return (
    <Answered query={kept} label="Looking for the file">
      {(file) => (file === null ? <Gone /> : <Compared {...props} file={file} />)}
    </Answered>
  );
}

function Gone() {
  return (
    <Page>
      <Text>
        This browser no longer has that file.{' '}
        <Link to="/review" search={{ bring: true }}>
          Bring it again.
        </Link>
      </Text>
    </Page>
  );
}

function Compared({ search, onChange, file }: Props & { file: BroughtFile }) {
  const merge = search.merge === true;
  const force = search.force === true;
  const query = useQuery({
    ...STILL,
    queryKey: ['review', 'file', file.id, merge, force],
    queryFn: ({ signal }) => compareFile(file, { merge, force }, signal),
  });
  const title = file.name;
  const options = <Options merge={merge} force={force} onChange={onChange} />;
  return (
    <Frame
      title={title}
      query={query}
      label="Comparing the file with the schema"
      below={
        query.error !== null &&
        !force &&
        isForeign(query.error) && <Foreign onForce={() => onChange({ force: true })} />
      }
    >
      {(reviewed) => (
        <Workspace
          source={{
            key: `file ${file.id}`,
            title,
            about: options,
            reviewed,
            isWhole: !merge,
            renew: query.refetch,
            isRenewing: query.isFetching,
            onApplied: () => undefined,
          }}
        />
      )}
    </Frame>
  );
}

function Options({ merge, force, onChange }: { merge: boolean; force: boolean; onChange: Props['onChange'] }) {
  const flag = (name: 'merge' | 'force') => (on: boolean) => onChange({ [name]: on ? true : undefined });
  return (
    <Group gap="lg">
      <Switch
        size="sm"
        label="Keep what the file lacks"
        checked={merge}
        onChange={(event) => flag('merge')(event.currentTarget.checked)}
      />
      <Switch
        size="sm"
        label="Of another release or service"
        checked={force}
        onChange={(event) => flag('force')(event.currentTarget.checked)}
      />
    </Group>
  );
}

/** What `force` is for: the file says that it is of another release, vendor or service. */
function isForeign(error: Error): boolean {
  if (!(error instanceof RefusedError)) return false;
  return error.problems.some(({ extensions }) => FOREIGN.has(extensions.path ?? ''));
}

const FOREIGN: ReadonlySet<string> = new Set(['service', 'vendor', 'directus', 'systemFields']);

function Foreign({ onForce }: { onForce: () => void }) {
  return (
    <Group gap="md">
      <Button onClick={onForce}>Understand it all the same</Button>
      <Text size="sm" c="dimmed" flex={1} miw={260}>
        What of it has no meaning here is left out, and each such part is named.{' '}
        <Link to="/review" search={{ bring: true }}>
          Or bring another file.
        </Link>
      </Text>
    </Group>
  );
}
