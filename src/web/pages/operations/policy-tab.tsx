import { Group, NumberInput, Stack, Switch, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Policy, type ReadPolicy, policyQuery, setPolicy } from '../../service/policy-queries.js';
import { SCHEMA } from '../../service/queries.js';
import { useRole } from '../../service/use-session.js';
import { Answered } from '../../shared/answered.js';
import { useTitle } from '../../shared/page-title.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { ReasonInput } from '../../shared/reason-input.js';
import { SteadyButton } from '../../shared/steady-button.js';
import { Time } from '../../shared/time.js';
import { PolicyCodes } from './policy-codes.js';
import { PolicyPatterns } from './policy-patterns.js';
import classes from './page.module.css';

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
