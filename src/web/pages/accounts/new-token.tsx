import { Checkbox, Group, NativeSelect, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { TOKEN_ACTIONS, type TokenAction } from '../../../schema/model/token-scope.js';
import { ACCOUNTS, createToken } from '../../service/account-queries.js';
import type { NewScope, User } from '../../service/types.js';
import { ShownOnce, SteadyButton } from '../../shared/buttons.js';
import { ProblemAlert } from '../../shared/problem-alert.js';

const DAY = 24 * 60 * 60 * 1000;

const LASTS = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'Never' },
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
          label="Name of a new token"
          required
          withAsterisk={false}
          flex={1}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="Expires"
          data={LASTS}
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
      </Group>
      <Checkbox.Group
        label="Actions"
        description="Without a selection, the token may do everything that its user may do."
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
        label="Collections"
        description="Names of collections, or patterns, that the token is limited to, separated by commas. Empty: all."
        placeholder="shop_*"
        mt="sm"
        value={collections}
        onChange={(event) => setCollections(event.currentTarget.value)}
      />
      <TextInput
        label="Networks"
        description="Addresses and networks that may use the token, separated by commas. Empty: all."
        placeholder="10.0.0.0/8"
        mt="sm"
        value={networks}
        onChange={(event) => setNetworks(event.currentTarget.value)}
      />
      <SteadyButton type="submit" mt="sm" fullWidth loading={make.isPending}>
        Create token
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
