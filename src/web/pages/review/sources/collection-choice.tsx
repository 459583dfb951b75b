/* Lets the user exclude and rename the collections of a file before the comparison. */
import { Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { abbreviate } from '../../../shared/text.js';
import { messages } from './messages.js';

const { collections: texts } = messages;

export interface CollectionChoice {
  /** The excluded collections, by their names in the file. */
  without: readonly string[];
  /** New names by the names in the file. */
  names: ReadonlyMap<string, string>;
}

export const ALL: CollectionChoice = { without: [], names: new Map() };

interface ButtonProps {
  /** The collections of the file. */
  collections: readonly string[];
  choice: CollectionChoice;
  onChange: (choice: CollectionChoice) => void;
}

export function CollectionChoiceButton(props: ButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="xs" variant="default" w="fit-content" onClick={() => setOpen(true)}>
        {texts.choose}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={texts.title}
        closeButtonProps={{ 'aria-label': texts.close }}
      >
        <ChoiceForm {...props} onDone={() => setOpen(false)} />
      </Modal>
    </>
  );
}

/** Maximum number of collections that are shown. The user finds others by searching. */
const MOST = 50;

function ChoiceForm({ collections, choice, onChange, onDone }: ButtonProps & { onDone: () => void }) {
  const [out, setOut] = useState<ReadonlySet<string>>(() => new Set(choice.without));
  const [typed, setTyped] = useState(choice.names);
  const [filter, setFilter] = useState('');
  const nameOf = (name: string): string => typed.get(name)?.trim() || name;
  const taken = new Map<string, number>();
  for (const name of collections) if (!out.has(name)) taken.set(nameOf(name), (taken.get(nameOf(name)) ?? 0) + 1);
  const isTaken = (name: string): boolean => !out.has(name) && (taken.get(nameOf(name)) ?? 0) > 1;
  const fitting = collections.filter((name) => name.toLowerCase().includes(filter.trim().toLowerCase()));
  const isFiltered = filter.trim() !== '';
  const include = (names: readonly string[], isIn: boolean) => {
    const next = new Set(out);
    for (const name of names) {
      if (isIn) next.delete(name);
      else next.add(name);
    }
    setOut(next);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const names = new Map(
      collections.filter((name) => !out.has(name) && nameOf(name) !== name).map((name) => [name, nameOf(name)]),
    );
    onChange({ without: collections.filter((name) => out.has(name)), names });
    onDone();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {texts.about}
        </Text>
        <TextInput
          size="xs"
          aria-label={texts.find}
          placeholder={texts.findOne(collections.length)}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <Group gap="xs">
          <Button size="compact-xs" variant="default" onClick={() => include(fitting, true)}>
            {isFiltered ? texts.includeThese : texts.includeAll}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => include(fitting, false)}>
            {isFiltered ? texts.excludeThese : texts.excludeAll}
          </Button>
        </Group>
        {fitting.slice(0, MOST).map((name) => (
          <Group key={name} gap="xs" align="flex-start" wrap="nowrap">
            <Checkbox
              mt={6}
              aria-label={texts.import(name)}
              checked={!out.has(name)}
              onChange={(event) => include([name], event.currentTarget.checked)}
            />
            <TextInput
              flex={1}
              size="xs"
              spellCheck={false}
              aria-label={texts.importAs(name)}
              disabled={out.has(name)}
              error={isTaken(name) ? texts.taken : undefined}
              value={typed.get(name) ?? name}
              onChange={(event) => setTyped(new Map(typed).set(name, event.currentTarget.value))}
            />
          </Group>
        ))}
        {fitting.length > MOST && (
          <Text size="xs" c="dimmed">
            {texts.more(fitting.length - MOST)}
          </Text>
        )}
        <Button type="submit" disabled={collections.some(isTaken)} w="fit-content">
          {messages.compare}
        </Button>
      </Stack>
    </form>
  );
}

/** Names the excluded and renamed collections. Renders nothing if all are imported under their names. */
export function ChoiceNote({ choice: { without, names }, onReset }: { choice: CollectionChoice; onReset: () => void }) {
  if (without.length + names.size === 0) return null;
  const renamed = [...names].map(([from, to]) => texts.renamed(from, to));
  return (
    <Group gap="sm">
      {without.length > 0 && <Text size="sm">{texts.notImported(abbreviate(without.join(', '), 200))}</Text>}
      {renamed.length > 0 && <Text size="sm">{texts.otherNames(abbreviate(renamed.join(', '), 200))}</Text>}
      <Button size="compact-xs" variant="default" onClick={onReset}>
        {texts.importAll}
      </Button>
    </Group>
  );
}
