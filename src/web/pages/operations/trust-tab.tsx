/* Lists the trust rules of pipelines, in the order in which the service tries them. */
import addIcon from 'icon:add';
import { Button, Code, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { actorName } from '../../../schema/model/events.js';
import { type ReadTrust, findSetter, trustQuery } from '../../service/operations-queries.js';
import { useRole } from '../../service/session.js';
import type { TrustRule } from '../../service/types.js';
import { ConfirmButton, SteadyButton } from '../../shared/buttons.js';
import { Glyph } from '../../shared/glyph.js';
import { useTitle } from '../../shared/page.js';
import { ProblemAlert, QueryResult } from '../../shared/problem-alert.js';
import { counted, scopeText } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import { TrustDialog, useSaveTrust } from './trust-dialog.js';
import { named } from '../../shared/name.js';
import classes from './page.module.css';

/** Only admins can change the rules. */
export function TrustTab() {
  useTitle('Trust rules · Operations');
  const trust = useQuery(trustQuery());
  return (
    <QueryResult query={trust} label="Loading the trust rules">
      {(read) => <TrustRules read={read} />}
    </QueryResult>
  );
}

function TrustRules({ read }: { read: ReadTrust }) {
  const isAdmin = useRole() === 'admin';
  const [edited, setEdited] = useState<TrustRule | 'new' | null>(null);
  return (
    <>
      <Group justify="space-between" align="flex-start" mb="md">
        <Text size="sm" c="dimmed" className={classes.words}>
          A pipeline exchanges the ID token of its platform for a short-lived API token. The first rule that accepts the
          ID token determines what the API token may do.
        </Text>
        {isAdmin && (
          <Button leftSection={<Glyph path={addIcon} />} onClick={() => setEdited('new')}>
            New rule
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
    <Text fw={600}>No trust rules</Text>
    <Text size="sm" mt={4}>
      Create one to let GitHub Actions, GitLab or another OpenID issuer use the service without a stored secret.
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
      <ol className={classes.cards} aria-label="Trust rules">
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
                      aria-label={named`Move up ${rule.name}`}
                      onClick={() => save.mutate(movedUp(rules, index))}
                    >
                      Move up
                    </SteadyButton>
                  )}
                  <Button
                    variant="default"
                    size="xs"
                    aria-label={named`Edit ${rule.name}`}
                    onClick={() => onEdit(rule)}
                  >
                    Edit
                  </Button>
                  <ConfirmButton
                    size="xs"
                    label="Delete"
                    sure="Yes, delete"
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
        {issuer}, audience {audience}
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
        {scopeText(scope)}; for {counted(minutes, 'minute')}
      </Text>
      {setter !== undefined && (
        <Text size="sm" c="dimmed">
          Set by {actorName(setter.actor)} <Time at={setter.occurred_at} />
        </Text>
      )}
    </div>
  );
}
