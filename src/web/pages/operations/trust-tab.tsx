/* Lists the trust rules of pipelines, in the order in which the service tries them, and edits them. */
import addIcon from 'icon:add';
import {
  Button,
  Checkbox,
  Code,
  Group,
  Modal,
  NativeSelect,
  NumberInput,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { actorName } from '../../../schema/model/events.js';
import { TOKEN_ACTIONS } from '../../../schema/model/token-scope.js';
import { usersQuery } from '../../service/account-queries.js';
import { type ReadTrust, findSetter, setTrust, trustQuery } from '../../service/operations-queries.js';
import { SCHEMA, collectionsQuery } from '../../service/queries.js';
import { itemsIn } from '../../service/request.js';
import { ServiceError } from '../../service/send.js';
import { useRole } from '../../service/session.js';
import type { NewTrustRule, TrustRule } from '../../service/types.js';
import { ConfirmButton, SteadyButton } from '../../shared/buttons.js';
import { Glyph } from '../../shared/glyph.js';
import { useTitle } from '../../shared/page.js';
import { ProblemAlert, QueryResult } from '../../shared/problem-alert.js';
import { scopeText } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import { messages as frame } from './messages.js';
import classes from './page.module.css';
import { messages } from './settings-messages.js';

const { common, trust: texts, trustRule: ruleTexts } = messages;

/** Only admins can change the rules. */
export function TrustTab() {
  useTitle(frame.titleOf(frame.tabs.trust));
  const trust = useQuery(trustQuery());
  return (
    <QueryResult query={trust} label={texts.loading}>
      {(read) => <TrustRules read={read} />}
    </QueryResult>
  );
}

function TrustRules({ read }: { read: ReadTrust }) {
  const isAdmin = useRole() === 'admin';
  const [edited, setEdited] = useState<TrustRule | 'new' | null>(null);
  return (
    <>
      <Group justify="space-between" mb="md">
        <Text size="sm" c="dimmed" className={classes.words}>
          {texts.about}
        </Text>
        {isAdmin && (
          <Button leftSection={<Glyph path={addIcon} />} onClick={() => setEdited('new')}>
            {texts.new}
          </Button>
        )}
      </Group>
      {read.rules.length === 0 ? <Empty /> : <Cards read={read} isAdmin={isAdmin} onEdit={setEdited} />}
      {edited !== null && (
        <TrustDialog read={read} rule={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </>
  );
}

const Empty = () => (
  <div className={classes.empty}>
    <Text fw={600}>{texts.none}</Text>
    <Text size="sm" mt={4}>
      {texts.aboutNone}
    </Text>
  </div>
);

interface CardsProps {
  read: ReadTrust;
  isAdmin: boolean;
  onEdit: (rule: TrustRule) => void;
}

function Cards({ read, isAdmin, onEdit }: CardsProps) {
  const { rules } = read;
  const save = useSaveTrust(read.etag);
  return (
    <>
      <ol className={classes.cards} aria-label={texts.rules}>
        {rules.map((rule, index) => (
          <li key={rule.name} className={classes.card}>
            <div className={classes.head}>
              <RuleText rule={rule} setter={findSetter(rule, read.changes)} />
              {isAdmin && (
                <Group gap="xs">
                  {index > 0 && (
                    <SteadyButton
                      variant="default"
                      size="xs"
                      loading={save.isPending}
                      aria-label={texts.moveUpOf(rule.name)}
                      onClick={() => save.mutate(movedUp(rules, index))}
                    >
                      {texts.moveUp}
                    </SteadyButton>
                  )}
                  <Button
                    variant="default"
                    size="xs"
                    aria-label={common.editOf(rule.name)}
                    onClick={() => onEdit(rule)}
                  >
                    {common.edit}
                  </Button>
                  <ConfirmButton
                    size="xs"
                    label={common.delete}
                    sure={texts.confirmDelete}
                    about={rule.name}
                    loading={save.isPending}
                    onConfirm={() => save.mutate(rules.toSpliced(index, 1))}
                  />
                </Group>
              )}
            </div>
          </li>
        ))}
      </ol>
      {save.error !== null && <ProblemAlert error={save.error} />}
    </>
  );
}

const movedUp = (rules: readonly TrustRule[], index: number): TrustRule[] =>
  rules.toSpliced(index, 1).toSpliced(index - 1, 0, ...rules.slice(index, index + 1));

interface RuleTextProps {
  rule: TrustRule;
  setter: ReturnType<typeof findSetter>;
}

function RuleText({ rule: { name, issuer, audience, claims, scope, minutes }, setter }: RuleTextProps) {
  return (
    <div className={classes.words}>
      <Text fw={600}>{name}</Text>
      <Text size="sm" mt={4} className={classes.address}>
        {texts.issuer(issuer, audience)}
      </Text>
      <Text size="sm" className={classes.address}>
        {Object.entries(claims).map(([claim, pattern]) => (
          <span key={claim}>
            <Code>
              {claim}={pattern}
            </Code>{' '}
          </span>
        ))}
      </Text>
      <Text size="sm" c="dimmed" mt={4}>
        {texts.scope(scopeText(scope), minutes)}
      </Text>
      {setter !== undefined && (
        <Text size="sm" c="dimmed">
          {texts.setBy(actorName(setter.actor), <Time at={setter.occurred_at} />)}
        </Text>
      )}
    </div>
  );
}

/* Creates and edits a trust rule. */

/**
 * Replaces all rules.
 * @param etag that of the rules that the user has seen. The service rejects the change if others have changed them
 */
function useSaveTrust(etag: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (rules: NewTrustRule[]) => setTrust(rules, etag),
    onSuccess: () => client.invalidateQueries({ queryKey: [SCHEMA] }),
  });
}

interface DialogProps {
  read: ReadTrust;
  /** Null for a new rule, which comes last. */
  rule: TrustRule | null;
  onClose: () => void;
}

/** It closes when the service accepts the change. */
function TrustDialog({ read, rule, onClose }: DialogProps) {
  // The page may read new rules while the dialog is open. They must not be overwritten.
  const [{ rules, etag }] = useState(read);
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={rule?.name ?? ruleTexts.new}
      closeButtonProps={{ 'aria-label': frame.close }}
    >
      <TrustForm rules={rules} etag={etag} rule={rule} onDone={onClose} />
    </Modal>
  );
}

/** A rule in the form. The claims are a list, because a user may type the same name twice. */
interface RuleInput extends Omit<TrustRule, 'claims' | 'set_by' | 'minutes'> {
  claims: Claim[];
  minutes: number | '';
  /** Empty for the admin who saves the rule. */
  user: string;
}

type Claim = [name: string, pattern: string];

const NEW: RuleInput = {
  name: '',
  issuer: 'https://token.actions.githubusercontent.com',
  audience: location.origin,
  claims: [['sub', '']],
  scope: { role: 'author', actions: ['read'] },
  minutes: 15,
  user: '',
};

function inputOf(saved: TrustRule): RuleInput {
  const { set_by: _, claims, ...rule } = saved;
  return { ...rule, claims: Object.entries(claims) };
}

const ruleOf = ({ claims, minutes, user, ...rule }: RuleInput): NewTrustRule => ({
  ...rule,
  claims: Object.fromEntries(claims),
  ...(minutes !== '' && { minutes }),
  ...(user !== '' && { user }),
});

/** Saving would keep only one of two claims with the same name. Undefined if there are none. */
const repeatedClaim = ({ claims }: RuleInput): string | undefined =>
  claims.find(([name], index) => claims.findIndex(([other]) => other === name) < index)?.[0];

interface FormProps extends Pick<ReadTrust, 'rules' | 'etag'> {
  rule: TrustRule | null;
  onDone: () => void;
}

function TrustForm({ rules, etag, rule, onDone }: FormProps) {
  const [input, setInput] = useState(rule === null ? NEW : inputOf(rule));
  const save = useSaveTrust(etag);
  const at = rule === null ? rules.length : rules.findIndex(({ name }) => name === rule.name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const changed: NewTrustRule[] = [...rules];
    changed.splice(at, 1, ruleOf(input));
    save.mutate(changed, { onSuccess: onDone });
  };
  const problems = save.error instanceof ServiceError ? save.error.problems : [];
  const members = problems.map(({ extensions }) => memberOf(extensions.path, at));
  const inputs: InputsProps = {
    input,
    onChange: (changed) => setInput({ ...input, ...changed }),
    errorAt: (member) => problems[members.indexOf(member)]?.message,
  };
  const isShown = problems.length > 0 && members.every((member) => SHOWN.has(member));
  return (
    <form onSubmit={submit}>
      <Stack>
        <IssuerInputs {...inputs} />
        <ClaimInputs {...inputs} />
        <ScopeInputs {...inputs} />
        {save.error !== null && !isShown && <ProblemAlert error={save.error} />}
        <SteadyButton type="submit" loading={save.isPending} disabled={repeatedClaim(input) !== undefined}>
          {rule === null ? ruleTexts.create : common.save}
        </SteadyButton>
      </Stack>
    </form>
  );
}

/** The inputs that show their own errors. */
const SHOWN = new Set([
  'name',
  'issuer',
  'audience',
  'claims',
  'user',
  'role',
  'minutes',
  'actions',
  'collections',
  'networks',
]);

/** @returns the input that a path belongs to: `claims` for `rules[0].claims.sub`, `networks` for `rules[0].scope.networks[1]` */
function memberOf(path: string | undefined, at: number): string {
  const prefix = `rules[${at}].`;
  if (path?.startsWith(prefix) !== true) return '';
  const [first = '', second = ''] = path.slice(prefix.length).split(/[.[]/);
  return first === 'scope' ? second : first;
}

interface InputsProps {
  input: RuleInput;
  onChange: (changed: Partial<RuleInput>) => void;
  errorAt: (member: string) => string | undefined;
}

function IssuerInputs({ input: { name, issuer, audience }, onChange, errorAt }: InputsProps) {
  return (
    <>
      <TextInput
        label={common.name}
        required
        withAsterisk={false}
        data-autofocus
        value={name}
        error={errorAt('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <TextInput
        label={ruleTexts.issuer}
        description={ruleTexts.aboutIssuer}
        required
        withAsterisk={false}
        value={issuer}
        error={errorAt('issuer')}
        onChange={(event) => onChange({ issuer: event.currentTarget.value })}
      />
      <TextInput
        label={ruleTexts.audience}
        description={ruleTexts.aboutAudience}
        required
        withAsterisk={false}
        value={audience}
        error={errorAt('audience')}
        onChange={(event) => onChange({ audience: event.currentTarget.value })}
      />
    </>
  );
}

/** All claims must match. */
function ClaimInputs({ input, onChange, errorAt }: InputsProps) {
  const { claims } = input;
  const change = (index: number, claim: Claim) => onChange({ claims: claims.with(index, claim) });
  const repeated = repeatedClaim(input);
  const error = repeated === undefined ? errorAt('claims') : ruleTexts.repeatedClaim(repeated);
  return (
    <section aria-label={ruleTexts.claims}>
      <Text size="sm" fw={500}>
        {ruleTexts.claims}
      </Text>
      <Text size="xs" c="dimmed" mb={6}>
        {ruleTexts.aboutClaims}
      </Text>
      {claims.map(([name, pattern], index) => (
        // Claims have no id, and inputs keep their focus only if the key does not depend on their content.
        <Group key={index} gap="xs" mb={6} wrap="nowrap">
          <TextInput
            aria-label={ruleTexts.nameOfClaim(index + 1)}
            w={140}
            required
            value={name}
            onChange={(event) => change(index, [event.currentTarget.value, pattern])}
          />
          <TextInput
            aria-label={ruleTexts.patternOfClaim(index + 1)}
            flex={1}
            required
            placeholder="repo:example/schema:ref:refs/heads/main"
            value={pattern}
            error={error !== undefined}
            onChange={(event) => change(index, [name, event.currentTarget.value])}
          />
          <Button
            variant="default"
            size="xs"
            aria-label={ruleTexts.removeClaim(index + 1)}
            onClick={() => onChange({ claims: claims.toSpliced(index, 1) })}
          >
            {common.remove}
          </Button>
        </Group>
      ))}
      {error !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
      <Button variant="default" size="xs" onClick={() => onChange({ claims: [...claims, ['', '']] })}>
        {ruleTexts.addClaim}
      </Button>
    </section>
  );
}

const ROLES: readonly TrustRule['scope']['role'][] = ['admin', 'auditor', 'author', 'reader'];

function ScopeInputs({ input: { scope, minutes, user }, onChange, errorAt }: InputsProps) {
  const { data: listed = [] } = useQuery(collectionsQuery());
  const change = (changed: Partial<RuleInput['scope']>) => onChange({ scope: { ...scope, ...changed } });
  return (
    <>
      <NativeSelect
        label={ruleTexts.role}
        data={[...ROLES]}
        value={scope.role}
        error={errorAt('role')}
        onChange={(event) => change({ role: event.currentTarget.value as TrustRule['scope']['role'] })}
      />
      <Checkbox.Group
        label={ruleTexts.actions}
        value={scope.actions}
        error={errorAt('actions')}
        onChange={(actions) => change({ actions })}
      >
        <Group gap="sm" mt={6}>
          {TOKEN_ACTIONS.map((action) => (
            <Checkbox key={action} value={action} label={action} />
          ))}
        </Group>
      </Checkbox.Group>
      <TagsInput
        label={common.collections}
        description={ruleTexts.aboutCollections}
        data={listed.map(({ collection }) => collection)}
        value={scope.collections ?? []}
        error={errorAt('collections')}
        onChange={(collections) => onChange({ scope: withList('collections', collections, scope) })}
        limit={50}
        clearButtonProps={{ 'aria-label': common.clear }}
      />
      <TagsInput
        label={ruleTexts.networks}
        description={ruleTexts.aboutNetworks}
        value={scope.networks ?? []}
        error={errorAt('networks')}
        onChange={(networks) => onChange({ scope: withList('networks', networks, scope) })}
        clearButtonProps={{ 'aria-label': common.clear }}
      />
      <NumberInput
        label={ruleTexts.minutes}
        description={ruleTexts.aboutMinutes}
        min={1}
        max={60}
        allowDecimal={false}
        value={minutes}
        error={errorAt('minutes')}
        onChange={(value) => onChange({ minutes: typeof value === 'number' ? value : '' })}
      />
      <UserSelect user={user} error={errorAt('user')} onChange={(chosen) => onChange({ user: chosen })} />
    </>
  );
}

/** Returns the scope with the list. An empty list is left out, because it would allow nothing. */
function withList(member: 'collections' | 'networks', list: string[], scope: RuleInput['scope']): RuleInput['scope'] {
  const { [member]: _, ...others } = scope;
  return list.length === 0 ? others : { ...others, [member]: list };
}

interface UserSelectProps {
  /** The id. Empty for the admin who saves the rule. */
  user: string;
  error: string | undefined;
  onChange: (user: string) => void;
}

function UserSelect({ user, error, onChange }: UserSelectProps) {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery(usersQuery());
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  const users = itemsIn(data?.pages ?? []).map(({ id, email }) => ({ value: id, label: email }));
  const isUnlisted = user !== '' && !users.some(({ value }) => value === user);
  return (
    <NativeSelect
      label={ruleTexts.user}
      description={ruleTexts.aboutUser}
      data={[{ value: '', label: ruleTexts.you }, ...(isUnlisted ? [{ value: user, label: user }] : []), ...users]}
      value={user}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
