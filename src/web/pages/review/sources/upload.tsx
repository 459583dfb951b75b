import bringIcon from 'icon:upload_file';
import { Button, Collapse, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type DragEvent, useRef, useState } from 'react';
import { createStore, del, delMany, entries, get, set } from 'idb-keyval';
import { Glyph } from '../../../shared/glyph.js';
import { useHere } from '../../../shared/focus.js';
import classes from '../review.module.css';
import { currentUserId } from '../../../service/session.js';
import { newId } from '../../../shared/use-attempt.js';
import { messages } from './messages.js';

const { upload: texts } = messages;

/* Stores imported files in this browser, so that reloads and links work. Only the newest few are kept. */

export interface UploadedFile {
  id: string;
  name: string;
  /** The media type that the service receives. */
  type: string;
  content: Blob;
  /** Milliseconds since 1970. */
  at: number;
  /** The user who imported it. */
  user: string;
}

const store = createStore('dps-files', 'files');
const MOST = 5;

/** Files in memory, which are lost after a reload. Used if the browser cannot store files. */
const atHand = new Map<string, UploadedFile>();

/** Returns JSON if the file looks like JSON, and otherwise YAML, which is a superset. */
function typeOf(name: string, beginning: string): string {
  if (/\.ya?ml$/i.test(name)) return 'application/yaml';
  return /^\s*[{[]/.test(beginning) ? 'application/json' : 'application/yaml';
}

/** @returns the id of the file in the address */
async function storeFile(name: string, content: Blob): Promise<string> {
  const type = typeOf(name, await content.slice(0, 1_000).text());
  const file = { id: newId(), name, type, content, at: Date.now(), user: currentUserId() };
  atHand.set(file.id, file);
  await set(file.id, file, store)
    .then(deleteOldFiles)
    .catch(() => undefined);
  return file.id;
}

/** Returns a file. Null if this browser does not have it, or if another user imported it. */
export async function uploadedFile(id: string): Promise<UploadedFile | null> {
  const file = atHand.get(id) ?? (await get<UploadedFile>(id, store).catch(() => undefined));
  return file?.user === currentUserId() ? file : null;
}

async function deleteOldFiles(): Promise<void> {
  const all = await entries<string, UploadedFile>(store);
  const old = all.sort(([, one], [, other]) => other.at - one.at).slice(MOST);
  for (const [id] of old) await del(id, store);
}

/** Deletes the files of the user who is signed in. */
export async function deleteFiles(): Promise<void> {
  const user = currentUserId();
  const all = await entries<string, UploadedFile>(store);
  const own = all.filter(([, file]) => file.user === user).map(([id]) => id);
  atHand.clear();
  await delMany(own, store);
}

/** Maximum size in bytes. The service rejects larger files. */
const LARGEST = 256 * 1024 ** 2;
const TAKEN = '.json,.yaml,.yml,application/json,application/yaml';

/**
 * Stores the file in this browser and opens its review. Shows errors for files that are empty, too large or unreadable.
 */
export function UploadForm() {
  const navigate = useNavigate();
  const isHere = useHere();
  const [isOver, setOver] = useState(false);
  const [isPasting, setPasting] = useState(false);
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  /** Prevents a double click from importing the file twice. */
  const isTaken = useRef(false);
  const take = async (name: string, content: Blob) => {
    if (content.size === 0) return setFault(texts.empty(name));
    if (content.size > LARGEST) return setFault(texts.tooLarge(name));
    if (isTaken.current) return;
    isTaken.current = true;
    // The user can also drop a folder, or a file that was deleted in the meantime.
    const file = await storeFile(name, content).catch(() => null);
    isTaken.current = false;
    if (file === null) setFault(texts.unreadable(name));
    else if (isHere()) await navigate({ to: '/review', search: { file } });
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file === undefined) setFault(texts.noFile);
    else void take(file.name, file);
  };
  return (
    <Stack gap="sm">
      <div
        className={classes.drop}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <span className={classes.dropIcon}>
          <Glyph path={bringIcon} size={28} />
        </span>
        <Text fw={600}>{texts.drop}</Text>
        <Text size="sm" c="dimmed" ta="center">
          {texts.about}
        </Text>
        <Group gap="sm" mt={4}>
          <FileButton
            accept={TAKEN}
            inputProps={{ 'aria-label': texts.file }}
            onChange={(file) => file && void take(file.name, file)}
          >
            {(props) => <Button {...props}>{texts.choose}</Button>}
          </FileButton>
          <Button variant="default" aria-expanded={isPasting} onClick={() => setPasting(!isPasting)}>
            {texts.paste}
          </Button>
        </Group>
      </div>
      <Collapse expanded={isPasting}>
        {isPasting && (
          <Stack gap="xs">
            <Textarea
              label={texts.text}
              placeholder="version: 1 …"
              autosize
              minRows={6}
              maxRows={16}
              spellCheck={false}
              autoFocus
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button
              w="fit-content"
              disabled={text.trim() === ''}
              onClick={() => void take(texts.pasted, new Blob([text]))}
            >
              {messages.compare}
            </Button>
          </Stack>
        )}
      </Collapse>
      {fault !== null && (
        <Text size="sm" role="alert" c="var(--mantine-color-error)">
          {fault}
        </Text>
      )}
    </Stack>
  );
}
