/** Edits the type and the column of a field. */
import { NativeSelect, SimpleGrid, Stack, Text } from '@mantine/core';
import { useFormContext, useWatch } from 'react-hook-form';
import type { ColumnSchema, Field } from '../../schema/model/model.js';
import { ALIAS_TYPE, FIELD_TYPES, UNKNOWN_TYPE, dataTypesOf } from '../../schema/normal-form/types/field-types.js';
import { columnText } from '../shared/column-text.js';
import { canCountUp, columnOfType, interfaceOf, newColumn, specialOf } from './column-defaults.js';
import { DefaultInput } from './default-input.js';
import classes from './editor-frame.module.css';
import type { Choices } from './input-props.js';
import { MemberInput } from './member-input.js';
import { COLUMN_FLAGS, COLUMN_TEXTS, type Member } from './members.js';

const LENGTH: Member = { path: 'schema.max_length', label: 'Max length', kind: 'number', help: 'Characters' };
const PRECISION: Member = {
  path: 'schema.numeric_precision',
  label: 'Precision',
  kind: 'number',
  help: 'Total number of digits',
};
const SCALE: Member = {
  path: 'schema.numeric_scale',
  label: 'Scale',
  kind: 'number',
  help: 'Digits after the decimal point',
};
const OTHER_TYPE: Member = { path: 'schema.data_type', label: 'PostgreSQL type', kind: 'code' };

/**
 * For the form of a field. A new type resets type members; returning to the first type restores them.
 * @param props.before null for a new field, whose interface follows the type
 */
export function ColumnPart({ before, choices }: { before: Field | null; choices: Choices }) {
  const { setValue, getValues } = useFormContext();
  const type = useWatch({ name: 'type' }) as string;
  const schema = useWatch({ name: 'schema' }) as ColumnSchema | null;
  const change = (next: string) => {
    const { schema: column } = getValues() as Field;
    const dataType = dataTypesOf(next)?.[0] ?? 'text';
    setValue('type', next, { shouldDirty: true });
    const isBack = next === before?.type;
    const made = column === null ? newColumn(next) : next === ALIAS_TYPE ? null : columnOfType(column, dataType);
    setValue('schema', isBack ? before.schema : made);
    if (before !== null) return;
    setValue('meta.interface', next === ALIAS_TYPE ? 'presentation-divider' : interfaceOf(next));
    setValue('meta.special', next === ALIAS_TYPE ? ['alias', 'no-data'] : specialOf(next));
  };
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NativeSelect
          label="Type"
          data={typesFor(before)}
          value={type}
          onChange={(event) => change(event.currentTarget.value)}
        />
        {schema !== null && <Variant type={type} column={schema} />}
        {schema !== null && 'max_length' in schema && hasLength(schema) && (
          <MemberInput member={LENGTH} choices={choices} />
        )}
        {schema?.data_type === 'numeric' && (
          <>
            <MemberInput member={PRECISION} choices={choices} />
            <MemberInput member={SCALE} choices={choices} />
          </>
        )}
      </SimpleGrid>
      {type === UNKNOWN_TYPE && <MemberInput member={OTHER_TYPE} choices={choices} />}
      {schema === null ? (
        <Text size="sm" c="dimmed">
          This field has no column. It groups or presents other fields, or shows the reverse side of a relation.
        </Text>
      ) : (
        <ColumnMembers column={schema} before={before} choices={choices} />
      )}
    </Stack>
  );
}

/** A field with a column keeps one, and an alias stays an alias. */
function typesFor(before: Field | null): string[] {
  if (before === null) return FIELD_TYPES.filter((type) => type !== UNKNOWN_TYPE || before !== null);
  if (before.schema === null) return [ALIAS_TYPE];
  return FIELD_TYPES.filter((type) => type !== ALIAS_TYPE);
}

const hasLength = ({ data_type: type }: ColumnSchema): boolean => type === 'character varying' || type === 'character';

/** For types with several column types. */
function Variant({ type, column }: { type: string; column: ColumnSchema }) {
  const { setValue } = useFormContext();
  const variants = dataTypesOf(type) ?? [];
  if (variants.length < 2) return null;
  return (
    <NativeSelect
      label="Column type"
      data={[...variants]}
      value={column.data_type}
      onChange={(event) => setValue('schema', columnOfType(column, event.currentTarget.value))}
    />
  );
}

function ColumnMembers({ column, before, choices }: { column: ColumnSchema; before: Field | null; choices: Choices }) {
  const { getValues } = useFormContext();
  const flags = COLUMN_FLAGS.filter(({ path }) => path !== 'schema.has_auto_increment' || canCountUp(column.data_type));
  const name = (getValues() as Field).field;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {flags.map((member) => (
          <MemberInput key={member.path} member={member} choices={choices} />
        ))}
      </SimpleGrid>
      <DefaultInput />
      {COLUMN_TEXTS.map((member) => (
        <MemberInput key={member.path} member={member} choices={choices} />
      ))}
      <div>
        <Text size="sm" fw={500} mb={4}>
          Column definition
        </Text>
        <div className={classes.made} data-testid="made">
          {before?.schema && columnText(before.field, before.schema) !== columnText(name, column) && (
            <Text c="dimmed" td="line-through" ff="monospace" size="sm">
              {columnText(before.field, before.schema)}
            </Text>
          )}
          {columnText(name, column)}
        </div>
      </div>
    </>
  );
}
