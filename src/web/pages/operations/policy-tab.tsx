import { Group, NumberInput, Stack, Switch, Text, NativeSelect, Table, Button, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Policy, type ReadPolicy, policyQuery, setPolicy } from '../../service/operations-queries.js';
import { SCHEMA } from '../../service/queries.js';
import { useRole } from '../../service/session.js';
import { Answered, ProblemAlert } from '../../shared/problem-alert.js';
import { useTitle } from '../../shared/page.js';
import { ReasonInput } from '../../shared/form.js';
import { SteadyButton } from '../../shared/buttons.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';
import type { PolicyAt } from '../../service/types.js';

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

/* Rules for collections by name pattern. The first matching pattern with the code applies. */

interface PolicyPatternsProps {
  policy: Policy;
  codes: readonly Code[];
  onChange: (members: Pick<Policy, 'collections'>) => void;
  isReadOnly: boolean;
}

type Rule = Policy['collections'][number];

/** @param props.onChange called with all rules, new ones last */
export function PolicyPatterns({ policy: { collections }, codes, onChange, isReadOnly }: PolicyPatternsProps) {
  const remove = (at: number, code: string) =>
    onChange({ collections: collections.flatMap((rule, index) => (index === at ? without(rule, code) : [rule])) });
  return (
    <section className={classes.part} aria-label="Rules for collections">
      <Text size="sm" mb="xs">
        Rules for some collections. In a pattern, <code>*</code> matches any characters. The first rule that matches the
        collection and the finding applies.
      </Text>
      <ul className={classes.lines} aria-label="Patterns">
        {collections.flatMap((rule, index) =>
          Object.entries(rule.findings).map(([code, action]) => (
            <li key={`${index} ${code}`} className={classes.line}>
              <Text size="sm" className={classes.words}>
                <strong>
                  <bdi>{rule.pattern}</bdi>
                </strong>{' '}
                · <code>{code}</code>: {CHOICES[action]}
              </Text>
              {!isReadOnly && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Remove ${code} from ${rule.pattern}`}
                  onClick={() => remove(index, code)}
                >
                  Remove
                </Button>
              )}
            </li>
          )),
        )}
      </ul>
      {!isReadOnly && <Adding codes={codes} onAdd={(rule) => onChange({ collections: [...collections, rule] })} />}
    </section>
  );
}

/** Removes a rule without codes. */
function without(rule: Rule, code: string): Rule[] {
  const { [code]: _, ...findings } = rule.findings;
  return Object.keys(findings).length === 0 ? [] : [{ ...rule, findings }];
}

function Adding({ codes, onAdd }: { codes: readonly Code[]; onAdd: (rule: Rule) => void }) {
  const [pattern, setPattern] = useState('');
  const [chosen, setChosen] = useState('LOSES_DATA');
  const [action, setAction] = useState<Action | undefined>('warn');
  const code = codes.find((each) => each.code === chosen);
  if (code === undefined) return null;
  return (
    <Group gap="sm" align="flex-end" mt="sm">
      <TextInput
        size="xs"
        label="Pattern"
        placeholder="tmp_*"
        maxLength={255}
        value={pattern}
        onChange={(event) => setPattern(event.currentTarget.value)}
      />
      <NativeSelect
        size="xs"
        label="Finding"
        value={chosen}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={codes.map((each) => each.code)}
      />
      <ActionSelect isLabelled label="Action" code={code} action={action} onChange={setAction} />
      <Button
        size="xs"
        variant="default"
        disabled={pattern === '' || action === undefined}
        onClick={() => {
          if (action !== undefined) onAdd({ pattern, findings: { [chosen]: action } });
          setPattern('');
        }}
      >
        Add
      </Button>
    </Group>
  );
}

/** Read-only unless the user is an admin. Changes are sent on save, and rejected after a concurrent change. */
export function PolicyTab() {
  useTitle('Policy · Operations');
  const policy = useQuery(policyQuery());
  return (
    <Answered query={policy} label="Loading the policy">
      {(read) => <Editor read={read} />}
    </Answered>
  );
}

function Editor({ read }: { read: ReadPolicy }) {
  const isAdmin = useRole() === 'admin';
  /** With its base version, so that concurrent changes are not overwritten. */
  const [edited, setEdited] = useState<{ policy: Policy; etag: string } | null>(null);
  const { policy, etag } = edited ?? { policy: read.data, etag: read.etag };
  const [reason, setReason] = useState('');
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: (sent: { policy: Policy; reason: string }) => setPolicy(sent.policy, { etag, reason: sent.reason }),
    onSuccess: async (next, sent) => {
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      // Edits made during a save remain unsaved.
      setEdited((now) => (now === null || now.policy === sent.policy ? null : { policy: now.policy, etag: next }));
      setReason((now) => (now === sent.reason ? '' : now));
    },
  });
  const change = (members: Partial<Policy>) => setEdited({ policy: { ...policy, ...members }, etag });
  const isChanged = edited !== null;
  const discard = () => {
    setEdited(null);
    save.reset();
  };
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        The policy applies to every schema change.{' '}
        {read.meta.updated_at === null ? (
          'No policy is set. The service rejects nothing.'
        ) : (
          <>
            Set <Time at={read.meta.updated_at} />.
          </>
        )}
      </Text>
      <General policy={policy} onChange={change} isReadOnly={!isAdmin} />
      <PolicyPatterns policy={policy} codes={read.meta.codes} onChange={change} isReadOnly={!isAdmin} />
      <PolicyCodes
        actions={policy.findings}
        codes={read.meta.codes}
        onChange={(findings) => change({ findings })}
        isReadOnly={!isAdmin}
      />
      {isAdmin && (
        <section className={classes.part} aria-label="Save policy">
          <Group gap="sm" align="flex-end">
            <div className={classes.words}>
              <ReasonInput value={reason} onChange={setReason} />
            </div>
            <SteadyButton variant="default" disabled={!isChanged} onClick={discard}>
              Discard
            </SteadyButton>
            <SteadyButton
              disabled={!isChanged}
              loading={save.isPending}
              onClick={() => save.mutate({ policy, reason })}
            >
              Save policy{' '}
            </SteadyButton>
          </Group>
          {etag !== read.etag && !save.isPending && (
            <Text size="sm" mt="sm" role="alert">
              Another user saved a new policy. Discard your changes and start from the new policy.
            </Text>
          )}
          {save.error !== null && <ProblemAlert error={save.error} />}
        </section>
      )}
    </Stack>
  );
}

interface GeneralProps {
  policy: Policy;
  onChange: (members: Partial<Policy>) => void;
  isReadOnly: boolean;
}

function General({ policy, onChange, isReadOnly }: GeneralProps) {
  const { approvals, author_may_approve: mayApprove, online_above_rows: rows } = policy;
  return (
    <section className={classes.part} aria-label="General">
      <Group gap="xl" align="flex-start">
        <NumberInput
          label="Required approvals"
          description="For change requests that require approval"
          min={1}
          max={100}
          allowDecimal={false}
          value={approvals}
          readOnly={isReadOnly}
          onChange={(value) => typeof value === 'number' && onChange({ approvals: value })}
        />
        <NumberInput
          label="Online above this row count"
          description="Leave empty for no rule."
          min={0}
          allowDecimal={false}
          thousandSeparator=","
          value={rows ?? ''}
          readOnly={isReadOnly}
          onChange={(value) => onChange({ online_above_rows: typeof value === 'number' ? value : null })}
        />
        <Switch
          mt={{ base: 0, xs: 48 }}
          label="Authors can approve their own requests"
          checked={mayApprove}
          disabled={isReadOnly}
          onChange={(event) => onChange({ author_may_approve: event.currentTarget.checked })}
        />
      </Group>
    </section>
  );
}
