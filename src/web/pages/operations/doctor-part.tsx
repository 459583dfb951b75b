import { Badge, Code, Group, Text, VisuallyHidden } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { examination } from '../../service/operations-queries.js';
import type { Examination } from '../../service/types.js';
import { counted } from '../../shared/amounts.js';
import { CopyButton } from '../../shared/copy-button.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Ask } from './checks.js';
import { Part, State } from './part.js';
import classes from './page.module.css';

/** Run by its button. Findings first, then all checks with their results. */
export function DoctorPart() {
  const doctor = useMutation({ mutationFn: examination });
  return (
    <Part
      title="Doctor"
      about="Checks the server, settings, privileges, migrations, event log, notifications and projections, like “dps doctor”. It reads the whole event log."
      action={<Ask label="Run checks" isAsking={doctor.isPending} onAsk={() => doctor.mutate()} />}
    >
      {doctor.error !== null && <ProblemAlert error={doctor.error} />}
      {doctor.data && <Found found={doctor.data} />}
    </Part>
  );
}

const LOOKS = {
  ok: { sign: '✓', color: 'teal' },
  warning: { sign: '!', color: 'orange' },
  error: { sign: '✗', color: 'red' },
  skipped: { sign: '–', color: 'gray' },
} as const;

type Check = Examination['checks'][number];

function Found({ found: { ok, checks } }: { found: Examination }) {
  const findings = checks.flatMap((check) => check.findings);
  return (
    <div role="status">
      <State ok={ok}>
        {findings.length === 0 ? `${checks.length} checks, no findings` : counted(findings.length, 'finding')}
      </State>
      {findings.map(({ code, severity, message, fix }) => (
        <div key={`${code} ${message}`} className={classes.finding} data-severity={severity}>
          <Group gap="xs">
            <Badge size="sm" variant="light" color={LOOKS[severity].color} className={classes.severity}>
              {severity}
            </Badge>
            <Code>{code}</Code>
          </Group>
          <Text size="sm" mt={4} className={classes.message}>
            {message}
          </Text>
          <Group gap={4} wrap="nowrap" align="flex-start" mt={4}>
            <Text size="sm" c="dimmed" flex={1}>
              {fix}
            </Text>
            <CopyButton text={fix} label={`Copy the fix for ${code}`} />
          </Group>
        </div>
      ))}
      <ul className={classes.looked} aria-label="Checks">
        {checks.map((check) => (
          <Looked key={check.name} check={check} />
        ))}
      </ul>
    </div>
  );
}

function Looked({ check: { name, result } }: { check: Check }) {
  return (
    <li data-result={result}>
      <span aria-hidden="true">{LOOKS[result].sign}</span> {name}
      <VisuallyHidden component="span">: {result}</VisuallyHidden>
    </li>
  );
}
