import {
  Checkbox,
  Group,
  NativeSelect,
  NumberInput,
  Stack,
  Switch,
  Text,
  TextInput,
  Table,
  Button,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { findLoosened } from '../../../schema/policy.js';
import {
  type Policy,
  type ReadPolicy,
  policyQuery,
  proposePolicy,
  setPolicy,
} from '../../service/operations-queries.js';
import { SCHEMA } from '../../service/queries.js';
import { useRole } from '../../service/session.js';
import { QueryResult, ProblemAlert } from '../../shared/problem-alert.js';
import { useTitle } from '../../shared/page.js';
import { POLICY_CHANGE_WORDS, POLICY_WORDS, ACTION_WORDS, BY_LEVEL } from '../../shared/policy-words.js';
import { ReasonInput, useLacksReason } from '../../shared/form.js';
import { SteadyButton } from '../../shared/buttons.js';
import { Time } from '../../shared/time.js';
import { useAttempt } from '../../shared/use-attempt.js';
import { Presets } from './policy-presets.js';
import classes from './page.module.css';
import type { PolicyAt } from '../../service/types.js';
import { messages as frame } from './messages.js';
import { messages } from './settings-messages.js';

const { policy: texts } = messages;

type Actions = Policy['findings'];
export type Action = Actions[string];
export type Code = PolicyAt['meta']['codes'][number];

/** The actions that informational findings can have. */
const SHOWN: ReadonlySet<string> = new Set(['off', 'note', 'warn']);

interface Props {
  actions: Actions;
  codes: readonly Code[];
  onChange: (actions: Actions) => void;
  isReadOnly: boolean;
}

/**
 * Shows the action of each code.
 * @param props.actions the actions by code. For all other codes, the level decides
 * @param props.onChange called with all actions, except for codes whose level decides
 */
export function PolicyCodes({ actions, codes, onChange, isReadOnly }: Props) {
  return (
    <section className={classes.part} aria-label={texts.findings}>
      <Table.ScrollContainer minWidth={560} type="native" tabIndex={0}>
        <Table verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.finding}</Table.Th>
              <Table.Th>{texts.defaultLevel}</Table.Th>
              <Table.Th>{texts.action}</Table.Th>
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
                <Table.Td>{texts.levels[code.level]}</Table.Td>
                <Table.Td>
                  {isReadOnly ? (
                    textOf(actions[code.code])
                  ) : (
                    <ActionSelect
                      label={texts.actionFor(code.code)}
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

const textOf = (action: Action | undefined): string => (action === undefined ? BY_LEVEL : ACTION_WORDS[action]);

function withAction(actions: Actions, code: string, action: Action | undefined): Actions {
  const { [code]: _, ...others } = actions;
  return action === undefined ? others : { ...others, [code]: action };
}

interface SelectProps {
  label: string;
  /** True to show the label. Otherwise, only screen readers read it. */
  isLabelled?: boolean;
  code: Code;
  action: Action | undefined;
  onChange: (action: Action | undefined) => void;
}

/**
 * Selects the action of a code. Informational codes have fewer options.
 * @param props.action undefined if the level decides
 */
export function ActionSelect({ label, isLabelled = false, code, action, onChange }: SelectProps) {
  const choices = Object.entries(ACTION_WORDS).filter(([value]) => !code.shown_only || SHOWN.has(value));
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

/* Rules for collections by patterns of names. The first rule that matches and contains the code applies. */

interface PolicyPatternsProps {
  policy: Policy;
  codes: readonly Code[];
  onChange: (members: Pick<Policy, 'collections'>) => void;
  isReadOnly: boolean;
}

type Rule = Policy['collections'][number];

/** @param props.onChange called with all rules. New rules come last */
export function PolicyPatterns({ policy: { collections }, codes, onChange, isReadOnly }: PolicyPatternsProps) {
  const remove = (at: number, code: string) =>
    onChange({ collections: collections.flatMap((rule, index) => (index === at ? without(rule, code) : [rule])) });
  return (
    <section className={classes.part} aria-label={texts.patternRules}>
      <Text size="sm" mb="xs">
        {texts.aboutPatternRules(<code>*</code>)}
      </Text>
      <ul className={classes.lines} aria-label={texts.patterns}>
        {collections.flatMap((rule, index) =>
          Object.entries(rule.findings).map(([code, action]) => (
            <li key={`${index} ${code}`} className={classes.line}>
              <Text size="sm" className={classes.words}>
                <strong>
                  <bdi>{rule.pattern}</bdi>
                </strong>{' '}
                · <code>{code}</code>: {ACTION_WORDS[action]}
              </Text>
              {!isReadOnly && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={texts.removeFrom(code, rule.pattern)}
                  onClick={() => remove(index, code)}
                >
                  {messages.common.remove}
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

/** Returns the rule without a code. A rule without codes is removed. */
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
        label={texts.pattern}
        placeholder="tmp_*"
        maxLength={255}
        value={pattern}
        onChange={(event) => setPattern(event.currentTarget.value)}
      />
      <NativeSelect
        size="xs"
        label={texts.finding}
        value={chosen}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={codes.map((each) => each.code)}
      />
      <ActionSelect isLabelled label={texts.action} code={code} action={action} onChange={setAction} />
      <Button
        size="xs"
        variant="default"
        disabled={pattern === '' || action === undefined}
        onClick={() => {
          if (action !== undefined) onAdd({ pattern, findings: { [chosen]: action } });
          setPattern('');
        }}
      >
        {texts.add}
      </Button>
    </Group>
  );
}

/** Shows the policy. It is read-only unless the user is an admin. Saving is rejected after a concurrent change. */
export function PolicyTab() {
  useTitle(frame.titleOf(frame.tabs.policy));
  const policy = useQuery(policyQuery());
  return (
    <QueryResult query={policy} label={texts.loading}>
      {(read) => <Editor read={read} />}
    </QueryResult>
  );
}

function Editor({ read }: { read: ReadPolicy }) {
  const isAdmin = useRole() === 'admin';
  /** The edited policy with its base version, so that a save does not overwrite concurrent changes. */
  const [edited, setEdited] = useState<EditedPolicy | null>(null);
  const { policy } = edited ?? { policy: read.data };
  const client = useQueryClient();
  // A save may have ended since the last rendering, so the newest state is changed.
  const change = (members: Partial<Policy>) =>
    setEdited((now) => {
      const { data, etag } = client.getQueryData(policyQuery().queryKey) ?? read;
      const base = now ?? { policy: data, etag };
      return { policy: { ...base.policy, ...members }, etag: base.etag };
    });
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {texts.about} {read.meta.updated_at === null ? texts.unset : texts.setAt(<Time at={read.meta.updated_at} />)}
      </Text>
      {isAdmin && <Presets onChoose={change} />}
      <General policy={policy} onChange={change} isReadOnly={!isAdmin} />
      <PolicyPatterns policy={policy} codes={read.meta.codes} onChange={change} isReadOnly={!isAdmin} />
      <PolicyCodes
        actions={policy.findings}
        codes={read.meta.codes}
        onChange={(findings) => change({ findings })}
        isReadOnly={!isAdmin}
      />
      {isAdmin && <SavePolicy read={read} edited={edited} onEdited={setEdited} />}
    </Stack>
  );
}

interface EditedPolicy {
  policy: Policy;
  etag: string;
}

interface SaveProps {
  read: ReadPolicy;
  edited: EditedPolicy | null;
  onEdited: (next: EditedPolicy | null | ((now: EditedPolicy | null) => EditedPolicy | null)) => void;
}

/** Saves the policy, or opens a change request if the policy in force requires approval of its changes. */
function SavePolicy({ read, edited, onEdited }: SaveProps) {
  const { policy, etag } = edited ?? { policy: read.data, etag: read.etag };
  const [reason, setReason] = useState('');
  const lacksReason = useLacksReason(reason);
  const condition = useCondition(read.data, policy);
  const { needsApproval, loosened, title } = condition;
  const save = useSaving({ onEdited, onSaved: (sent) => setReason((now) => (now === sent ? '' : now)) });
  const propose = useProposing(() => onEdited(null));
  const discard = () => {
    onEdited(null);
    save.reset();
    propose.reset();
  };
  const send = () =>
    needsApproval
      ? propose.mutate({ policy, title: title.trim(), reason })
      : save.mutate({ policy, etag, reason, isAcknowledged: loosened.length > 0 });
  return (
    <section className={classes.part} aria-label={texts.savePolicy}>
      <Condition condition={condition} />
      <Group gap="sm" align="flex-end">
        <div className={classes.words}>
          <ReasonInput value={reason} onChange={setReason} />
        </div>
        <SteadyButton variant="default" disabled={edited === null} onClick={discard}>
          {texts.discard}
        </SteadyButton>
        <SteadyButton
          disabled={edited === null || !condition.isMet || lacksReason}
          loading={save.isPending || propose.isPending}
          onClick={send}
        >
          {needsApproval ? texts.openRequest : texts.savePolicy}
        </SteadyButton>
      </Group>
      {etag !== read.etag && !save.isPending && (
        <Text size="sm" mt="sm" role="alert">
          {texts.replaced}
        </Text>
      )}
      {save.error !== null && <ProblemAlert error={save.error} />}
      {propose.error !== null && <ProblemAlert error={propose.error} />}
    </section>
  );
}

/** Reads what the current policy requires of a new one. */
function useCondition(current: Policy, policy: Policy) {
  const [title, setTitle] = useState('');
  /** The policy whose warnings were acknowledged. Another edit must be acknowledged again. */
  const [acknowledged, setAcknowledged] = useState<Policy | null>(null);
  const needsApproval = current.policy_changes === 'approve';
  const loosened = current.policy_changes === 'acknowledge' ? findLoosened(current, policy) : [];
  const isAcknowledged = acknowledged === policy;
  return {
    needsApproval,
    loosened,
    title,
    setTitle,
    isAcknowledged,
    acknowledge: (isKnown: boolean) => setAcknowledged(isKnown ? policy : null),
    isMet: needsApproval ? title.trim() !== '' : loosened.length === 0 || isAcknowledged,
  };
}

function Condition({ condition }: { condition: ReturnType<typeof useCondition> }) {
  const { needsApproval, loosened, title, setTitle, isAcknowledged, acknowledge } = condition;
  if (needsApproval)
    return (
      <TextInput
        mb="sm"
        label={texts.requestTitle}
        description={texts.aboutRequest}
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
    );
  if (loosened.length === 0) return null;
  return (
    <Checkbox
      mb="sm"
      label={texts.acknowledgeLoosening(loosened)}
      checked={isAcknowledged}
      onChange={(event) => acknowledge(event.currentTarget.checked)}
    />
  );
}

interface SavedPolicy extends EditedPolicy {
  reason: string;
  isAcknowledged: boolean;
}

function useSaving({ onEdited, onSaved }: Pick<SaveProps, 'onEdited'> & { onSaved: (reason: string) => void }) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ policy, ...sent }: SavedPolicy) => setPolicy(policy, sent),
    onSuccess: async (next, sent) => {
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      // Edits made during a save remain unsaved.
      onEdited((now) => (now === null || now.policy === sent.policy ? null : { policy: now.policy, etag: next }));
      onSaved(sent.reason);
    },
  });
}

function useProposing(onProposed: () => void) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const attempt = useAttempt();
  return useMutation({
    mutationFn: ({ policy, ...sent }: { policy: Policy; title: string; reason: string }) =>
      proposePolicy(policy, { ...sent, key: attempt.keyFor(JSON.stringify([policy, sent])) }),
    onSuccess: async ({ id }) => {
      onProposed();
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      await navigate({ to: '/review', search: { change: id } });
    },
    onSettled: (_, error) => attempt.end(error),
  });
}

interface GeneralProps {
  policy: Policy;
  onChange: (members: Partial<Policy>) => void;
  isReadOnly: boolean;
}

function General({ policy, onChange, isReadOnly }: GeneralProps) {
  const { approvals, author_may_approve: mayApprove, online_above_rows: rows, policy_changes: changes } = policy;
  return (
    <section className={classes.part} aria-label={texts.general}>
      <Group gap="xl" align="flex-start">
        <NumberInput
          label={POLICY_WORDS.approvals}
          description={texts.aboutApprovals}
          min={1}
          max={100}
          allowDecimal={false}
          value={approvals}
          readOnly={isReadOnly}
          onChange={(value) => typeof value === 'number' && onChange({ approvals: value })}
        />
        <NumberInput
          label={POLICY_WORDS.online_above_rows}
          description={texts.aboutOnline}
          min={0}
          allowDecimal={false}
          thousandSeparator=","
          value={rows ?? ''}
          readOnly={isReadOnly}
          onChange={(value) => onChange({ online_above_rows: typeof value === 'number' ? value : null })}
        />
        <NativeSelect
          label={POLICY_WORDS.policy_changes}
          description={texts.aboutChanges}
          value={changes}
          disabled={isReadOnly}
          onChange={(event) => onChange({ policy_changes: event.currentTarget.value as Policy['policy_changes'] })}
          data={Object.entries(POLICY_CHANGE_WORDS).map(([value, label]) => ({ value, label }))}
        />
      </Group>
      <Stack gap="sm" mt="lg">
        <Switch
          label={POLICY_WORDS.author_may_approve}
          checked={mayApprove}
          disabled={isReadOnly}
          onChange={(event) => onChange({ author_may_approve: event.currentTarget.checked })}
        />
        <Switch
          label={POLICY_WORDS.requires_reason}
          checked={policy.requires_reason}
          disabled={isReadOnly}
          onChange={(event) => onChange({ requires_reason: event.currentTarget.checked })}
        />
      </Stack>
    </section>
  );
}
