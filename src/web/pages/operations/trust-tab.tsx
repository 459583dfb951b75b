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
import { scopeText } from '../../shared/text.js';
import { Time } from '../../shared/time.js';
import { TrustDialog, useSaveTrust } from './trust-dialog.js';
import { messages as frame } from './messages.js';
import classes from './page.module.css';
import { messages } from './settings-messages.js';

const { common, trust: texts } = messages;

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
      <Group justify="space-between" align="flex-start" mb="md">
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
