/** Two slow checks, run on request. */
import { Code, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { counted, brief } from '../../shared/text.js';
import { chainCheck, comparison } from '../../service/operations-queries.js';
import type { LogVerification, Verification } from '../../service/types.js';
import { valueText } from '../../shared/changes/sentences.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Part, State } from './part.js';
import { SteadyButton } from '../../shared/buttons.js';
import classes from './page.module.css';

/** Both may take as long as the log is long. Each shows its last result until it is run again. */
export function Checks() {
  const chain = useMutation({ mutationFn: chainCheck });
  const compared = useMutation({ mutationFn: comparison });
  return (
    <>
      <Part
        title="Verification"
        about="The service recomputes the hash chain of the event log and reports the first position at which it is broken, and changes that the policy did not allow or that differ from the plan of their change request."
        action={<CheckButton label="Verify the event log" isAsking={chain.isPending} onAsk={() => chain.mutate()} />}
      >
        {chain.error !== null && <ProblemAlert error={chain.error} />}
        {chain.data && <Chain found={chain.data} />}
      </Part>
      <Part
        title="Compare projections"
        about="The service compares the state of the event log with the metadata rows and the PostgreSQL catalog."
        action={<CheckButton label="Compare" isAsking={compared.isPending} onAsk={() => compared.mutate()} />}
      >
        {compared.error !== null && <ProblemAlert error={compared.error} />}
        {compared.data && <Comparison found={compared.data} />}
      </Part>
    </>
  );
}

interface AskProps {
  label: string;
  isAsking: boolean;
  onAsk: () => void;
}

/**
 * The button of a check.
 * @param props.onAsk not called again while `isAsking`
 */
export function CheckButton({ label, isAsking, onAsk }: AskProps) {
  return (
    <SteadyButton variant="default" size="xs" loading={isAsking} onClick={onAsk}>
      {label}
    </SteadyButton>
  );
}

function Chain({ found: { ok, checked, head, broken, disallowed, unprotected } }: { found: LogVerification }) {
  return (
    <div role="status">
      <State ok={ok}>{ok ? `${checked.toLocaleString()} events verified` : 'Verification failed'}</State>
      {broken !== null && (
        <Text size="sm">
          Broken at event {broken.position}: {broken.reason}
        </Text>
      )}
      {disallowed.map(({ position, reason }) => (
        <Text size="sm" key={position}>
          Change at event {position} was not allowed: {reason}
        </Text>
      ))}
      {unprotected.map((each) => (
        <Text size="sm" key={each}>
          {each}
        </Text>
      ))}
      <Text size="sm" c="dimmed">
        Hash of the last event, {head.position}: <Code>{head.hash}</Code>
      </Text>
    </div>
  );
}

function Comparison({ found: { ok, position, differences } }: { found: Verification }) {
  return (
    <div role="status">
      <State ok={ok}>{ok ? `No differences at event ${position}` : counted(differences.length, 'difference')}</State>
      <ul className={classes.lines}>
        {differences.map(({ where, collection, field, member, expected, found }) => (
          <li key={JSON.stringify([where, collection, field, member])} className={classes.difference}>
            <Text size="sm" fw={550}>
              {[collection, field].filter((part) => part !== undefined).join('.')} in the {where}
            </Text>
            <Text size="sm">
              {member}: {brief(valueText(expected), 120)} in the event log, {brief(valueText(found), 120)} found
            </Text>
          </li>
        ))}
      </ul>
    </div>
  );
}
