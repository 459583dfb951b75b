import bringIcon from 'icon:upload_file';
import { Button, Collapse, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type DragEvent, useRef, useState } from 'react';
import { Glyph } from '../../../shared/glyph.js';
import { useHere } from '../../../shared/use-still-here.js';
import { bring } from './files.js';
import classes from '../review.module.css';

/** The service rejects larger files. */
const LARGEST = 256 * 1024 ** 2;
const TAKEN = '.json,.yaml,.yml,application/json,application/yaml';

/** Stores it in this browser and opens its review. Shows errors for empty, too large and unreadable files. */
export function Bring() {
  const navigate = useNavigate();
  const isHere = useHere();
  const [isOver, setOver] = useState(false);
  const [isPasting, setPasting] = useState(false);
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  /** A double click imports it once. */
  const isTaken = useRef(false);
  const take = async (name: string, content: Blob) => {
    if (content.size === 0) return setFault(`${name} is empty.`);
    if (content.size > LARGEST) return setFault(`${name} is larger than the service accepts.`);
    if (isTaken.current) return;
    isTaken.current = true;
    // A folder can be dropped like a file, and a file may have been deleted.
    const file = await bring(name, content).catch(() => null);
    isTaken.current = false;
    if (file === null) setFault(`${name} cannot be read.`);
    else if (isHere()) await navigate({ to: '/review', search: { file } });
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file === undefined) setFault('Drop a file, not text or a link.');
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
        <Text fw={600}>Drop a snapshot here</Text>
        <Text size="sm" c="dimmed" ta="center">
          A JSON or YAML snapshot from this service, another environment or Directus. You review the changes before
          anything is applied.
        </Text>
        <Group gap="sm" mt={4}>
          <FileButton
            accept={TAKEN}
            inputProps={{ 'aria-label': 'Snapshot file' }}
            onChange={(file) => file && void take(file.name, file)}
          >
            {(props) => <Button {...props}>Choose file</Button>}
          </FileButton>
          <Button variant="default" aria-expanded={isPasting} onClick={() => setPasting(!isPasting)}>
            Paste text
          </Button>
        </Group>
      </div>
      <Collapse expanded={isPasting}>
        {isPasting && (
          <Stack gap="xs">
            <Textarea
              label="Snapshot text"
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
              onClick={() => void take('Pasted snapshot', new Blob([text]))}
            >
              Compare
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
