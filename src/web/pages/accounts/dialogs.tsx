/** The forms for a user and for a new API token. */
import { Button, Checkbox, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { TOKEN_ACTIONS, type TokenAction } from '../../../schema/model/token-scope.js';
import {
  ACCOUNTS,
  type UserInput,
  changeUser,
  createUser,
  eraseUser,
  identitiesQuery,
  removeUser,
  unlinkIdentity,
  createToken,
  invitationLink,
  readProviders,
} from '../../service/account-queries.js';
import { ServiceError } from '../../service/send.js';
import { currentUserId } from '../../service/session.js';
import type { NewScope, Role, User } from '../../service/types.js';
import { ConfirmButton, ShownOnce, SteadyButton } from '../../shared/buttons.js';
import { Name } from '../../shared/name.js';
import { NewPasswordInput, generatePassword } from '../../shared/password.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import { messages } from './messages.js';

const words = messages.dialog;

const ROLES = [
  { value: 'admin', label: words.roles.admin },
  { value: 'auditor', label: words.roles.auditor },
  { value: 'author', label: words.roles.author },
  { value: 'reader', label: words.roles.reader },
];

const STATUSES = [
  { value: 'active', label: words.statuses.active },
  { value: 'suspended', label: words.statuses.suspended },
];

const EMPTY: UserInput = { email: '', name: '', role: 'reader', status: 'active', password: '' };
const SHOWN = ['email', 'name', 'role', 'status', 'password'];

/**
 * The form of a user. It closes when the service accepts the change, unless it then shows an invitation link. Existing
 * users can also be suspended and removed.
 * @param props.user null for a new user
 * @param props.isInviting true if the form begins with the choice of an invitation link
 */
export function UserDialog({ user, isInviting = false, onClose }: UserDialogProps) {
  return (
    // A click outside must not close it, because it could hide the invitation link, which is shown only once.
    <Modal
      opened
      closeOnClickOutside={false}
      onClose={onClose}
      title={user === null ? messages.page.newUser : user.name}
      closeButtonProps={{ 'aria-label': messages.page.close }}
    >
      <UserForm user={user} isInviting={isInviting} onDone={onClose} />
    </Modal>
  );
}

interface UserDialogProps {
  user: User | null;
  isInviting?: boolean;
  onClose: () => void;
}

/**
 * Returns a function that refetches the accounts and waits for the data, even after the dialog was closed.
 * @param deleted the id of a deleted user, whose details no longer exist
 */
function useReadAgain(deleted?: string): () => Promise<void> {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({
      queryKey: [ACCOUNTS],
      predicate: ({ queryKey }) => deleted === undefined || !queryKey.includes(deleted),
    });
}

interface UserFormProps {
  user: User | null;
  isInviting: boolean;
  onDone: () => void;
}

function UserForm({ user, isInviting, onDone }: UserFormProps) {
  const [input, setInput] = useState<UserInput>(user === null ? EMPTY : inputOf(user));
  const [isChosen, setChosen] = useState(isInviting);
  const mayInvite = useMayInvite(user);
  const isInvited = mayInvite && isChosen;
  const readAgain = useReadAgain();
  const save = useMutation({
    mutationFn: async () => {
      const sent = isInvited ? { ...input, password: generatePassword(), invitation: true } : input;
      const saved = await (user === null ? createUser(sent) : changeUser(user.id, sent));
      return isInvited ? { link: invitationLink(sent), user: saved } : null;
    },
    onSuccess: readAgain,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined, { onSuccess: (invitation) => invitation === null && onDone() });
  };
  if (save.data != null) return <InvitationLink {...save.data} onDone={onDone} />;
  return (
    <form onSubmit={submit}>
      <Stack>
        <Boxes
          input={input}
          isNew={user === null}
          isInvited={isInvited}
          error={save.error}
          onChange={(changed) => setInput({ ...input, ...changed })}
        />
        {mayInvite && (
          <Checkbox
            label={words.createLink}
            description={words.createLinkHelp(user === null)}
            checked={isInvited}
            onChange={(event) => setChosen(event.currentTarget.checked)}
          />
        )}
        {user !== null && <Identities user={user} />}
        {save.error !== null && !isShownAtInputs(save.error) && <ProblemAlert error={save.error} />}
        <Group justify="space-between" align="flex-end">
          {user === null ? <span /> : <Remove user={user} onDone={onDone} />}
          <SteadyButton type="submit" loading={save.isPending}>
            {user === null ? words.createUser : words.save}
          </SteadyButton>
        </Group>
      </Stack>
    </form>
  );
}

const inputOf = ({ email, name, role, status }: User): UserInput => ({ email, name, role, status, password: '' });

const isShownAtInputs = (error: Error): boolean =>
  error instanceof ServiceError && error.problems.every(({ extensions }) => SHOWN.includes(extensions.path ?? ''));

/** An admin can invite all other users, if users can sign in with a password. */
function useMayInvite(user: User | null): boolean {
  const providers = useQuery({ queryKey: ['providers'], queryFn: readProviders });
  return providers.data?.password === true && user?.id !== currentUserId();
}

interface InvitationLinkProps {
  link: string;
  user: User;
  onDone: () => void;
}

function InvitationLink({ link, user: { email, invitation_expires_at: until }, onDone }: InvitationLinkProps) {
  return (
    <Stack>
      <Text size="sm">
        {words.sendLink(<Name of={email} />)} {until !== null && words.linkExpires(<Time at={until} as="day" />)}
      </Text>
      <ShownOnce secret={link} name="link" />
      <Group justify="flex-end">
        <Button onClick={onDone}>{words.done}</Button>
      </Group>
    </Stack>
  );
}

interface BoxesProps {
  input: UserInput;
  isNew: boolean;
  isInvited: boolean;
  error: Error | null;
  onChange: (changed: Partial<UserInput>) => void;
}

function Boxes({ input: { email, name, role, status, password }, isNew, isInvited, error, onChange }: BoxesProps) {
  const at = (path: string) => (error instanceof ServiceError ? error.at(path) : undefined);
  return (
    <>
      <TextInput
        label={words.email}
        type="email"
        required
        withAsterisk={false}
        data-autofocus
        value={email}
        error={at('email')}
        onChange={(event) => onChange({ email: event.currentTarget.value })}
      />
      <TextInput
        label={words.name}
        placeholder={email}
        value={name}
        error={at('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <NativeSelect
        label={words.role}
        data={ROLES}
        value={role}
        error={at('role')}
        onChange={(event) => onChange({ role: event.currentTarget.value as Role })}
      />
      {!isInvited && (
        <NewPasswordInput
          label={words.password}
          description={isNew ? words.newPasswordHelp : words.passwordHelp}
          value={password}
          error={at('password')}
          onChange={(changed) => onChange({ password: changed })}
        />
      )}
      {!isNew && (
        <NativeSelect
          label={words.status}
          data={STATUSES}
          value={status}
          error={at('status')}
          onChange={(event) => onChange({ status: event.currentTarget.value as User['status'] })}
        />
      )}
    </>
  );
}

/** Shows the identities of an OpenID provider that sign in as the user. Renders nothing if there are none. */
function Identities({ user }: { user: User }) {
  const identities = useQuery(identitiesQuery(user.id));
  const readAgain = useReadAgain();
  const unlink = useMutation({ mutationFn: (id: string) => unlinkIdentity(user.id, id), onSuccess: readAgain });
  if (identities.data === undefined || identities.data.length === 0) return null;
  return (
    <Stack gap="xs" role="group" aria-label={words.identities}>
      {identities.data.map(({ id, issuer, subject }) => (
        <Group key={id} justify="space-between" wrap="nowrap">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {words.signsInAs(subject, issuer)}
          </Text>
          <ConfirmButton
            label={words.unlink}
            sure={words.confirmUnlink}
            loading={unlink.isPending}
            onConfirm={() => unlink.mutate(id)}
          />
        </Group>
      ))}
      {unlink.error !== null && <ProblemAlert error={unlink.error} />}
    </Stack>
  );
}

function Remove({ user, onDone }: { user: User; onDone: () => void }) {
  const [isErasing, setErasing] = useState(false);
  const remove = useMutation({
    mutationFn: () => (isErasing ? eraseUser(user.id) : removeUser(user.id)),
    onSuccess: useReadAgain(user.id),
  });
  if (remove.error !== null) return <ProblemAlert error={remove.error} />;
  return (
    <Stack gap="xs" align="flex-start">
      <Checkbox
        label={words.erase}
        description={isErasing ? words.eraseHelp(user.name) : undefined}
        checked={isErasing}
        onChange={(event) => setErasing(event.currentTarget.checked)}
      />
      <ConfirmButton
        key={String(isErasing)}
        label={isErasing ? words.deleteAndErase : words.delete}
        sure={isErasing ? words.confirmDeleteAndErase : words.confirmDelete}
        loading={remove.isPending}
        onConfirm={() => remove.mutate(undefined, { onSuccess: onDone })}
      />
    </Stack>
  );
}

const DAY = 24 * 60 * 60 * 1000;

const LASTS = [
  { value: '30', label: messages.tokens.days(30) },
  { value: '90', label: messages.tokens.days(90) },
  { value: '365', label: messages.tokens.year },
  { value: '', label: messages.tokens.never },
];

/** The form for a new API token. The token is shown once, after it was created. */
export function NewToken({ user }: { user: User }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [actions, setActions] = useState<TokenAction[]>([]);
  const [collections, setCollections] = useState('');
  const [networks, setNetworks] = useState('');
  const client = useQueryClient();
  const make = useMutation({
    mutationFn: (tokenName: string) =>
      createToken(user.id, {
        name: tokenName,
        expires_at: days === '' ? null : new Date(Date.now() + Number(days) * DAY).toISOString(),
        scope: scopeOf(actions, { collections: listOf(collections), networks: listOf(networks) }),
      }),
    onSuccess: (_, given) => {
      // If the user has typed something in the meantime, it belongs to the next token and stays.
      setName((now) => (now === given ? '' : now));
      return client.invalidateQueries({ queryKey: [ACCOUNTS] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate(name);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <TextInput
          label={messages.tokens.name}
          required
          withAsterisk={false}
          flex={1}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label={messages.tokens.expires}
          data={LASTS}
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
      </Group>
      <Checkbox.Group
        label={messages.tokens.actions}
        description={messages.tokens.actionsHelp}
        mt="sm"
        value={actions}
        onChange={(chosen) => setActions(chosen)}
      >
        <Group gap="sm" mt={6}>
          {TOKEN_ACTIONS.map((action) => (
            <Checkbox key={action} value={action} label={action} />
          ))}
        </Group>
      </Checkbox.Group>
      <TextInput
        label={messages.tokens.collections}
        description={messages.tokens.collectionsHelp}
        placeholder="shop_*"
        mt="sm"
        value={collections}
        onChange={(event) => setCollections(event.currentTarget.value)}
      />
      <TextInput
        label={messages.tokens.networks}
        description={messages.tokens.networksHelp}
        placeholder="10.0.0.0/8"
        mt="sm"
        value={networks}
        onChange={(event) => setNetworks(event.currentTarget.value)}
      />
      <SteadyButton type="submit" mt="sm" fullWidth loading={make.isPending}>
        {messages.tokens.create}
      </SteadyButton>
      {make.error !== null && <ProblemAlert error={make.error} />}
      {make.data && <ShownOnce secret={make.data.token} name="token" />}
    </form>
  );
}

/** Returns the scope of the token. Null if nothing is limited. */
function scopeOf(actions: TokenAction[], lists: Pick<Required<NewScope>, 'collections' | 'networks'>): NewScope | null {
  const limits = Object.entries({ actions, ...lists }).filter(([, list]) => (list?.length ?? 0) > 0);
  return limits.length === 0 ? null : Object.fromEntries(limits);
}

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((each) => each !== '');
