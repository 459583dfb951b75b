import removeIcon from 'icon:delete';
import addIcon from 'icon:add';
import { ActionIcon, Button, Group, Input, Stack, TextInput } from '@mantine/core';
import { isObject } from '../../kernel/json.js';
import { Glyph } from '../shared/glyph.js';
import type { InputProps } from './input-props.js';

/** `more`: further members of an entry: `singular`, `plural`. */
interface Row {
  language: string;
  translation: string;
  more: object;
}

/**
 * Keeps the given format: a list of entries, or an object by language. An object becomes a list while two rows have
 * the same language. Null without rows.
 */
export function TranslationsInput({ member, value, onChange, error }: InputProps) {
  const rows = rowsOf(value);
  const put = (next: Row[]) => onChange(valueOf(next, isObject(value)));
  const change = (index: number, changed: Partial<Row>) =>
    put(rows.map((row, at) => (at === index ? { ...row, ...changed } : row)));
  return (
    <Input.Wrapper label={member.label} error={error} labelElement="div">
      <Stack gap="xs" mt={4} role="group" aria-label={member.label}>
        {rows.map((row, index) => (
          // Rows have no name of their own while they are typed.
          // oxlint-disable-next-line react/no-array-index-key
          <Group key={index} gap="xs" wrap="nowrap">
            <TextInput
              aria-label="Language"
              placeholder="de-DE"
              w={110}
              value={row.language}
              onChange={(event) => change(index, { language: event.currentTarget.value })}
            />
            <TextInput
              aria-label={`Name in ${row.language === '' ? 'this language' : row.language}`}
              flex={1}
              value={row.translation}
              onChange={(event) => change(index, { translation: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove ${row.language}`}
              onClick={() => put(rows.filter((_, at) => at !== index))}
            >
              <Glyph path={removeIcon} size={18} />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          leftSection={<Glyph path={addIcon} size={16} />}
          onClick={() => put([...rows, { language: '', translation: '', more: {} }])}
        >
          Add a language
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

function rowsOf(value: unknown): Row[] {
  if (Array.isArray(value)) {
    return value.filter(isObject).map(({ language, translation, ...more }) => ({
      language: asText(language),
      translation: asText(translation),
      more,
    }));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).map(([language, translation]) => ({
    language,
    translation: asText(translation),
    more: {},
  }));
}

function valueOf(rows: readonly Row[], byLanguage: boolean): unknown {
  if (rows.length === 0) return null;
  const isClear = new Set(rows.map(({ language }) => language)).size === rows.length;
  if (byLanguage && isClear)
    return Object.fromEntries(rows.map(({ language, translation }) => [language, translation]));
  return rows.map(({ language, translation, more }) => ({ language, translation, ...more }));
}
