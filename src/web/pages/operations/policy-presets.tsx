/* Offers common policies to start with. */
import { Button, Text } from '@mantine/core';
import type { Policy } from '../../service/operations-queries.js';
import classes from './page.module.css';
import { messages } from './settings-messages.js';

const { presets: texts } = messages;

interface Preset {
  name: string;
  summary: string;
  policy: Omit<Policy, 'collections'>;
}

const PRESETS: readonly Preset[] = [
  {
    name: texts.cautious,
    summary: texts.aboutCautious,
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
    name: texts.production,
    summary: texts.aboutProduction,
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
    <section className={classes.part} aria-label={texts.label}>
      <Text size="sm" mb="xs">
        {texts.about}
      </Text>
      <ul className={classes.lines} aria-label={texts.label}>
        {PRESETS.map(({ name, summary, policy }) => (
          <li key={name} className={classes.line}>
            <Text size="sm" className={classes.words}>
              <strong>{name}.</strong> {summary}
            </Text>
            <Button size="compact-sm" variant="default" aria-label={texts.useOf(name)} onClick={() => onChoose(policy)}>
              {texts.use}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
