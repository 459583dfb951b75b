/** Reviews an imported snapshot: of this service at another time, of another environment, or of Directus. */
import { Button, Group, Stack, Switch, Text, Title, Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { invertMap } from '../../../../kernel/lists-and-maps.js';
import type { MergeConflict, Resolution } from '../../../../schema/merge/model.js';
import { collectionsQuery } from '../../../service/queries.js';
import { ServiceError } from '../../../service/send.js';
import { useMay } from '../../../service/session.js';
import {
  type Reviewed,
  type SentFile,
  compareFile,
  mergeFile,
  readDocument,
  changesSinceQuery,
  isOwnOriginQuery,
} from '../../../service/review-queries.js';
import { abbreviate } from '../../../shared/text.js';
import { QueryResult, LoadingIndicator } from '../../../shared/problem-alert.js';
import { Decide, conflictsIn } from '../../../shared/conflicts/decide.js';
import { Page, useTitle, Section } from '../../../shared/page.js';
import {
  collectionNames,
  directusRelease,
  failingCollections,
  withoutCollections,
  originInName,
  renameCollections,
  timeInName,
} from '../model/file-document.js';
import { ALL, ChoiceNote, CollectionChoiceButton, type CollectionChoice } from './collection-choice.js';
import { Frame } from '../parts/notes.js';
import type { ReviewSearch } from '../search.js';
import { Workspace } from '../workspace.js';
import { renewalOf } from '../use-review.js';
import { type UploadedFile, uploadedFile } from './upload.js';
import { KeptChangesNote, BaseSelect, NOW, UnknownBaseNote, type Base, STILL, momentText } from './base-select.js';
import { ChangeList } from '../../../shared/changes/change-list.js';
import { changesOf } from '../../../shared/changes/sentences.js';
import { countChanges } from '../../../shared/changes/total.js';
import { messages as frame } from '../messages.js';
import { messages } from './messages.js';

const { file: texts } = messages;

/**
 * If a file name contains only the time of the export, the user is asked for its schema if others changed the schema
 * since.
 */

interface BaseSelectProps {
  /** The file name. */
  name: string;
  /** The time in the file name, in ISO 8601. */
  named: string;
  onChoose: (base: Base) => void;
  /** The comparison with the current schema. Without concurrent changes, the base makes no difference. */
  children: ReactNode;
}

/** Number of changes that are shown below the question. */
const AT_FIRST = 20;

function AskBase({ name, named, onChoose, children }: BaseSelectProps) {
  useTitle(frame.titleOf(name));
  const { data: diff, error } = useQuery({ ...STILL, ...changesSinceQuery(named) });
  // If the file cannot be read, the comparison shows the error.
  if (error !== null) return children;
  const changes = diff && changesOf(diff);
  if (changes?.length === 0) return children;
  return (
    <Page>
      <Title order={1} size="h3" mb="lg">
        <bdi>{name}</bdi>
      </Title>
      {changes === undefined ? (
        <LoadingIndicator label={texts.loadingLater} height="240px" />
      ) : (
        <Stack gap="lg">
          <Text>{texts.askBase(momentText(named), countChanges(changes))}</Text>
          <Answer label={texts.ownSchema} about={texts.aboutOwnSchema} onChoose={() => onChoose(named)} />
          <Answer label={texts.otherSchema} about={texts.aboutOtherSchema} onChoose={() => onChoose(NOW)} />
          <Section title={texts.laterChanges}>
            <ChangeList changes={changes} first={AT_FIRST} />
          </Section>
        </Stack>
      )}
    </Page>
  );
}

function Answer({ label, about, onChoose }: { label: string; about: string; onChoose: () => void }) {
  return (
    <Paper p="md" radius="md" withBorder>
      <Button variant="default" onClick={onChoose}>
        {label}
      </Button>
      <Text size="sm" c="dimmed" mt="xs">
        {about}
      </Text>
    </Paper>
  );
}

interface Props {
  search: ReviewSearch & { file: string };
  onChange: (changed: Partial<ReviewSearch>) => void;
}

interface ImportedFile extends UploadedFile {
  /** The release of Directus that wrote the file. Null for files of other origins. */
  directus: string | null;
}

/** Number of bytes at the beginning of a file that contain the release of Directus. */
const BEGINNING = 1_000;

async function readImportedFile(id: string): Promise<ImportedFile | null> {
  const file = await uploadedFile(id);
  return file && { ...file, directus: directusRelease(await file.content.slice(0, BEGINNING).text()) };
}

/**
 * Shows the review of a file, or a message if this browser no longer has the file. The options of the comparison are in
 * the address, but the resolutions of conflicts are not.
 * @param props.onChange called with the changed parameters of the address. Undefined removes one
 */
export function FileSource(props: Props) {
  const { file: id } = props.search;
  const kept = useQuery({ ...STILL, queryKey: ['file', id], queryFn: () => readImportedFile(id) });
  return (
    <QueryResult query={kept} label={texts.loading}>
      {(file) => (file === null ? <FileMissing /> : <FileWithBase {...props} file={file} />)}
    </QueryResult>
  );
}

function FileMissing() {
  return (
    <Page>
      <Text>
        {texts.missing((label) => (
          <Link to="/review" search={{ bring: true }}>
            {label}
          </Link>
        ))}
      </Text>
    </Page>
  );
}

/**
 * Finds the base schema by the position in the file name. Without one, asks for it if the name contains a time and it
 * makes a difference.
 */
function FileWithBase(props: Props & { file: ImportedFile }) {
  const { search, file, onChange } = props;
  const origin = useMemo(() => originInName(file.name), [file]);
  const isChecked = useMay('readHistory') && origin !== null;
  const { data: isOwn, isPending } = useQuery({
    ...STILL,
    ...isOwnOriginQuery(origin ?? NO_ORIGIN),
    enabled: isChecked,
  });
  if (isChecked && isPending) return <LoadingIndicator label={texts.lookingForBase} height="240px" />;
  if (origin !== null && isOwn === true) return <Compared {...props} named={origin.position} />;
  if (isOwn === false) return <Compared {...props} named={null} />;
  const named = timeInName(file.name, file.at);
  const compared = <Compared {...props} named={named} />;
  if (search.base !== undefined || named === null) return compared;
  return (
    <AskBase name={file.name} named={named} onChoose={(base) => onChange({ base })}>
      {compared}
    </AskBase>
  );
}

const NO_ORIGIN = { position: 0, hash: '' };

type BasedFileProps = Props & {
  file: ImportedFile;
  /** The position in the file name, which is then the default base, or the time. Null if there is neither. */
  named: Base | null;
};

function useComparison({ search, onChange, file, named }: BasedFileProps) {
  const mirror = search.mirror === true;
  const force = search.force === true || file.directus !== null;
  const base = search.base ?? (typeof named === 'number' ? named : NOW);
  const [resolve, setResolve] = useState<readonly Resolution[]>([]);
  const [choice, setChoice] = useState(ALL);
  const query = useQuery({
    ...STILL,
    queryKey: ['review', 'file', file.id, mirror, force, base, resolve, choice.without, [...choice.names]],
    queryFn: async ({ signal }) => {
      const sent = await fileWithChoice(file, choice);
      const reviewed =
        base === NOW
          ? await compareFile(sent, { mirror, force }, signal)
          : await mergeFile(sent, { base, resolve, mirror, force }, signal);
      return excludeCollections(reviewed, choice.without);
    },
  });
  const change = (changed: Partial<ReviewSearch>) => {
    // Earlier resolutions do not apply to these conflicts.
    setResolve([]);
    onChange(changed);
  };
  const choose = (next: CollectionChoice) => {
    setResolve([]);
    setChoice(next);
  };
  const isUnsaid = search.base === undefined && named === null;
  return { file, mirror, force, named, base, isUnsaid, resolve, setResolve, choice, setChoice: choose, query, change };
}

async function fileWithChoice(file: UploadedFile, choice: CollectionChoice): Promise<SentFile> {
  if (choice.without.length + choice.names.size === 0) return file;
  const document = chosenDocument(await readDocument(file), choice);
  return { content: new Blob([JSON.stringify(document)]), type: 'application/json' };
}

const chosenDocument = (document: unknown, { without, names }: CollectionChoice): unknown =>
  renameCollections(withoutCollections(document, new Set(without)), names);

/** Excludes collections from the review. A collection that the user does not import is not deleted either. */
function excludeCollections(reviewed: Reviewed, collections: readonly string[]): Reviewed {
  if (collections.length === 0) return reviewed;
  const names = new Set(collections);
  const kept = Object.entries(reviewed.diff).map(([part, items]) => [
    part,
    items.filter((item) => !('collection' in item && names.has(item.collection))),
  ]);
  return { ...reviewed, diff: Object.fromEntries(kept) as Reviewed['diff'] };
}

type Comparison = ReturnType<typeof useComparison>;

function Compared(props: BasedFileProps) {
  const comparison = useComparison(props);
  const { file, query, mirror, force, base } = comparison;
  const conflicts = conflictsIn(query.error);
  if (query.error !== null && !query.isFetching && !force && isForeign(query.error))
    return <ForeignFile comparison={comparison} />;
  if (conflicts !== null) return <MergeConflicts comparison={comparison} conflicts={conflicts} />;
  return (
    <Frame
      title={file.name}
      query={query}
      label={texts.comparing}
      below={query.error !== null && <RejectedFile comparison={comparison} error={query.error} />}
    >
      {(reviewed) => (
        <Workspace
          source={{
            key: `file ${file.id}`,
            title: file.name,
            about: <ComparisonOptions comparison={comparison} />,
            reviewed,
            // The base of the merge stays the same, even after concurrent changes.
            isWhole: mirror && base === NOW,
            renewal: renewalOf(query),
            onApplied: () => undefined,
          }}
        />
      )}
    </Frame>
  );
}

function ComparisonOptions({ comparison }: { comparison: Comparison }) {
  const { base, named, isUnsaid, query, choice, setChoice, change, file } = comparison;
  const collections = useCollections(file);
  return (
    <Stack gap="xs">
      {file.directus !== null && <Text size="sm">{texts.directus(file.directus)}</Text>}
      <Group gap="lg" align="flex-end">
        <BaseSelect base={base} named={named} onChange={(next) => change({ base: next })} />
        <Options comparison={comparison} />
      </Group>
      {collections !== undefined && collections.length > 0 && (
        <CollectionChoiceButton collections={collections} choice={choice} onChange={setChoice} />
      )}
      <ChoiceNote choice={choice} onReset={() => setChoice(ALL)} />
      {isUnsaid && <UnknownBaseNote />}
      {base !== NOW && query.data !== undefined && (
        <KeptChangesNote base={base} position={query.data.position} onTakeBack={() => change({ base: NOW })} />
      )}
    </Stack>
  );
}

function RejectedFile({ comparison, error }: { comparison: Comparison; error: Error }) {
  const { base, choice } = comparison;
  const isChosen = choice.without.length + choice.names.size > 0;
  return (
    <Stack gap="md">
      <ImportWithout comparison={comparison} error={error} />
      {(base !== NOW || isChosen) && <ComparisonOptions comparison={comparison} />}
    </Stack>
  );
}

/** Offers to import the other collections of the file if only some of them have errors. */
function ImportWithout({ comparison, error }: { comparison: Comparison; error: Error }) {
  const { file, choice, setChoice } = comparison;
  const { data: failing = null } = useQuery({
    ...STILL,
    queryKey: ['review', 'failing', file.id, choice.without, [...choice.names], error],
    queryFn: async () => {
      if (!(error instanceof ServiceError)) return null;
      const failed = failingCollections(error.problems, chosenDocument(await readDocument(file), choice));
      const former = invertMap(choice.names);
      return failed?.map((name) => former.get(name) ?? name) ?? null;
    },
  });
  if (failing === null || failing.length === 0) return null;

  return (
    <Group gap="md">
      <Button variant="default" onClick={() => setChoice(withoutFailing(choice, failing))}>
        {failing.length === 1
          ? texts.importWithoutOne(abbreviate(failing[0] ?? '', 60))
          : texts.importWithout(failing.length)}
      </Button>
      <Text size="sm" c="dimmed" flex={1} miw={260}>
        {texts.othersCompared(failing.length)}
      </Text>
    </Group>
  );
}

const withoutFailing = ({ without, names }: CollectionChoice, failing: readonly string[]): CollectionChoice => ({
  without: [...without, ...failing],
  names: new Map([...names].filter(([name]) => !failing.includes(name))),
});

interface ConflictsProps {
  comparison: Comparison;
  conflicts: readonly MergeConflict[];
}

/** The file and others changed the same members. The result is unknown until the user resolves the conflicts. */
function MergeConflicts({ comparison, conflicts }: ConflictsProps) {
  const { file, resolve, setResolve, query } = comparison;
  useTitle(frame.titleOf(file.name));
  return (
    <Page>
      <Stack gap="lg">
        <Title order={1} size="h3">
          <bdi>{file.name}</bdi>
        </Title>
        <ComparisonOptions comparison={comparison} />
        <Decide
          // Earlier choices do not apply to these conflicts.
          key={conflicts.map(({ message }) => message).join('\n')}
          conflicts={conflicts}
          before={resolve}
          mine="file"
          isBusy={query.isFetching}
          onDecided={setResolve}
        />
      </Stack>
    </Page>
  );
}

function Options({ comparison }: { comparison: Comparison }) {
  const { file, mirror, force, change } = comparison;
  const missing = useMissing(comparison);
  const flag = (name: 'mirror' | 'force') => (on: boolean) => change({ [name]: on ? true : undefined });
  return (
    <Group gap="lg" align="flex-start">
      <Switch
        size="sm"
        label={texts.mirror}
        description={missing === null ? undefined : missingText(missing)}
        checked={mirror}
        onChange={(event) => flag('mirror')(event.currentTarget.checked)}
      />
      {file.directus === null && (
        <Switch
          size="sm"
          label={texts.accept}
          checked={force}
          onChange={(event) => flag('force')(event.currentTarget.checked)}
        />
      )}
    </Group>
  );
}

const missingText = (count: number): string => (count === 0 ? texts.complete : texts.lacks(count));

/** Maximum size of a YAML file in bytes. The page itself parses YAML, so a larger file would block it. */
const MOST_YAML_BYTES = 1024 ** 2;

/** Returns the number of collections that are missing from the file. Null if it is unknown or depends on the base. */
function useMissing({ file, base, choice: { without, names } }: Comparison): number | null {
  const { data: listed } = useQuery(collectionsQuery());
  const collections = useCollections(file);
  if (listed === undefined || collections === undefined || base !== NOW) return null;
  const known = new Set([...without, ...collections.map((name) => names.get(name) ?? name)]);
  return listed.filter(({ collection }) => !known.has(collection)).length;
}

/** Returns the collections of the file. Undefined while they are read, and for a large YAML file. */
function useCollections(file: UploadedFile): readonly string[] | undefined {
  const { data } = useQuery({
    ...STILL,
    queryKey: ['file', 'collections', file.id],
    enabled: file.type === 'application/json' || file.content.size <= MOST_YAML_BYTES,
    queryFn: async () => [...collectionNames(await readDocument(file))],
  });
  return data;
}

/** True for an error that `force` avoids: the file is of another release, vendor or service. */
function isForeign(error: Error): boolean {
  if (!(error instanceof ServiceError)) return false;
  return error.problems.some(({ extensions }) => FOREIGN.has((extensions.path ?? '').replace(/^theirs\./, '')));
}

const FOREIGN: ReadonlySet<string> = new Set(['service', 'vendor', 'directus', 'systemFields']);

/** Offers the import instead of showing an error. */
function ForeignFile({ comparison: { file, change } }: { comparison: Comparison }) {
  useTitle(frame.titleOf(file.name));
  return (
    <Page>
      <Stack gap="md" align="flex-start">
        <Title order={1} size="h3">
          <bdi>{file.name}</bdi>
        </Title>
        <Text>{texts.foreign}</Text>
        <Group gap="md">
          <Button onClick={() => change({ force: true })}>{texts.importAnyway}</Button>
          <Link to="/review" search={{ bring: true }}>
            {texts.importAnother}
          </Link>
        </Group>
      </Stack>
    </Page>
  );
}
