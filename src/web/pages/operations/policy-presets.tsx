/* Offers common policies to start with. */
import { Button, Text } from '@mantine/core';
import type { Policy } from '../../service/operations-queries.js';
import { named } from '../../shared/name.js';
import classes from './page.module.css';

interface Preset {
  name: string;
  summary: string;
  policy: Omit<Policy, 'collections'>;
}

const PRESETS: readonly Preset[] = [
  {
    name: 'Cautious',
    summary:
      'Users must acknowledge changes that lose data, block a table for long, rewrite it, or break clients. They must also acknowledge that they loosen this policy.',
    policy: {
      findings: {
        LOSES_DATA: 'acknowledge',
        DATA_NOT_KEPT: 'acknowledge',
        LONG_LOCK: 'acknowledge',
        REWRITES_TABLE: 'acknowledge',
        BREAKS_CLIENTS: 'acknowledge',
      },
      online_above_rows: null,
      approvals: 1,
      author_may_approve: true,
      requires_reason: false,
      policy_changes: 'acknowledge',
    },
  },
  {
    name: 'Production',
    summary:
      'Another admin must approve changes that lose data, block a table for long or rewrite it, and changes to this policy. Users must acknowledge changes that break clients. Every change needs a reason. Tables above 100,000 rows are changed online. This needs at least two active admins.',
    policy: {
      findings: {
        LOSES_DATA: 'approve',
        DATA_NOT_KEPT: 'approve',
        LONG_LOCK: 'approve',
        REWRITES_TABLE: 'approve',
        BREAKS_CLIENTS: 'acknowledge',
      },
      online_above_rows: 100_000,
      approvals: 1,
      author_may_approve: false,
      requires_reason: true,
      policy_changes: 'approve',
    },
  },
];

/** Fills the form with a common policy. Rules for collections are unchanged, and nothing is saved yet. */
export function Presets({ onChoose }: { onChoose: (members: Partial<Policy>) => void }) {
  return (
    <section className={classes.part} aria-label="Presets">
      <Text size="sm" mb="xs">
        Start with a preset, change it if necessary, and save it. A preset replaces all settings except the rules for
        collections.
      </Text>
      <ul className={classes.lines} aria-label="Presets">
        {PRESETS.map(({ name, summary, policy }) => (
          <li key={name} className={classes.line}>
            <Text size="sm" className={classes.words}>
              <strong>{name}.</strong> {summary}
            </Text>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={named`Use ${name}`}
              onClick={() => onChoose(policy)}
            >
              Use
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
