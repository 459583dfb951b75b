import { NativeSelect, Table, Text } from '@mantine/core';
import type { Policy } from '../../service/policy-queries.js';
import type { PolicyAt } from '../../service/types.js';
import classes from './page.module.css';

type Actions = Policy['findings'];
export type Action = Actions[string];
export type Code = PolicyAt['meta']['codes'][number];

export const CHOICES: Readonly<Record<Action, string>> = {
  off: 'hidden',
  note: 'shown as a note',
  warn: 'shown as a warning',
  acknowledge: 'must be acknowledged',
  approve: 'requires approval',
  refuse: 'rejected',
};

/** The allowed actions for informational findings. */
const SHOWN: ReadonlySet<string> = new Set(['off', 'note', 'warn']);

const LEVELS: Readonly<Record<Code['level'], string>> = { note: 'note', warn: 'warning', danger: 'danger' };

interface Props {
  actions: Actions;
  codes: readonly Code[];
  onChange: (actions: Actions) => void;
  isReadOnly: boolean;
}

/**
 * @param props.actions by code; other codes follow their level
 * @param props.onChange called with all actions, without those that follow their level
 */
export function PolicyCodes({ actions, codes, onChange, isReadOnly }: Props) {
  return (
    <section className={classes.part} aria-label="Findings">
      <Table.ScrollContainer minWidth={560} type="native" tabIndex={0}>
        <Table verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Finding</Table.Th>
              <Table.Th>Default level</Table.Th>
              <Table.Th>Action</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {codes.map((code) => (
              <Table.Tr key={code.code}>
                <Table.Td>
                  <Text size="sm">{code.title}</Text>
                  <Text size="xs" c="dimmed" ff="monospace">
                    {code.code}
                  </Text>
                </Table.Td>
                <Table.Td>{LEVELS[code.level]}</Table.Td>
                <Table.Td>
                  {isReadOnly ? (
                    textOf(actions[code.code])
                  ) : (
                    <ActionSelect
                      label={`Action for ${code.code}`}
                      code={code}
                      action={actions[code.code]}
                      onChange={(action) => onChange(withAction(actions, code.code, action))}
                    />
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}

const textOf = (action: Action | undefined): string => (action === undefined ? BY_LEVEL : CHOICES[action]);

const BY_LEVEL = 'default for its level';

function withAction(actions: Actions, code: string, action: Action | undefined): Actions {
  const { [code]: _, ...others } = actions;
  return action === undefined ? others : { ...others, [code]: action };
}

interface SelectProps {
  label: string;
  /** Without a heading above. */
  isLabelled?: boolean;
  code: Code;
  action: Action | undefined;
  onChange: (action: Action | undefined) => void;
}

/**
 * Offers fewer actions for informational codes.
 * @param props.action undefined: by level
 */
export function ActionSelect({ label, isLabelled = false, code, action, onChange }: SelectProps) {
  const choices = Object.entries(CHOICES).filter(([value]) => !code.shown_only || SHOWN.has(value));
  return (
    <NativeSelect
      {...(isLabelled ? { label } : { 'aria-label': label })}
      size="xs"
      value={action ?? ''}
      onChange={(event) =>
        onChange(event.currentTarget.value === '' ? undefined : (event.currentTarget.value as Action))
      }
      data={[{ value: '', label: BY_LEVEL }, ...choices.map(([value, text]) => ({ value, label: text }))]}
    />
  );
}
