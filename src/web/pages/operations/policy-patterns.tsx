/** Rules for collections by name pattern. The first matching pattern with the code applies. */
import { Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Policy } from '../../service/policy-queries.js';
import { type Action, ActionSelect, CHOICES, type Code } from './policy-codes.js';
import classes from './page.module.css';

interface Props {
  policy: Policy;
  codes: readonly Code[];
  onChange: (members: Pick<Policy, 'collections'>) => void;
  isReadOnly: boolean;
}

type Rule = Policy['collections'][number];

/** @param props.onChange called with all rules, new ones last */
export function PolicyPatterns({ policy: { collections }, codes, onChange, isReadOnly }: Props) {
  const remove = (at: number, code: string) =>
    onChange({ collections: collections.flatMap((rule, index) => (index === at ? without(rule, code) : [rule])) });
  return (
    <section className={classes.part} aria-label="Rules for collections">
      <Text size="sm" mb="xs">
        Rules for some collections. In a pattern, <code>*</code> matches any characters. The first rule that matches the
        collection and the finding applies.
      </Text>
      <ul className={classes.lines} aria-label="Patterns">
        {collections.flatMap((rule, index) =>
          Object.entries(rule.findings).map(([code, action]) => (
            <li key={`${index} ${code}`} className={classes.line}>
              <Text size="sm" className={classes.words}>
                <strong>
                  <bdi>{rule.pattern}</bdi>
                </strong>{' '}
                · <code>{code}</code>: {CHOICES[action]}
              </Text>
              {!isReadOnly && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Remove ${code} from ${rule.pattern}`}
                  onClick={() => remove(index, code)}
                >
                  Remove
                </Button>
              )}
            </li>
          )),
        )}
      </ul>
      {!isReadOnly && <Adding codes={codes} onAdd={(rule) => onChange({ collections: [...collections, rule] })} />}
    </section>
  );
}

/** Removes a rule without codes. */
function without(rule: Rule, code: string): Rule[] {
  const { [code]: _, ...findings } = rule.findings;
  return Object.keys(findings).length === 0 ? [] : [{ ...rule, findings }];
}

function Adding({ codes, onAdd }: { codes: readonly Code[]; onAdd: (rule: Rule) => void }) {
  const [pattern, setPattern] = useState('');
  const [chosen, setChosen] = useState('LOSES_DATA');
  const [action, setAction] = useState<Action | undefined>('warn');
  const code = codes.find((each) => each.code === chosen);
  if (code === undefined) return null;
  return (
    <Group gap="sm" align="flex-end" mt="sm">
      <TextInput
        size="xs"
        label="Pattern"
        placeholder="tmp_*"
        maxLength={255}
        value={pattern}
        onChange={(event) => setPattern(event.currentTarget.value)}
      />
      <NativeSelect
        size="xs"
        label="Finding"
        value={chosen}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={codes.map((each) => each.code)}
      />
      <ActionSelect isLabelled label="Action" code={code} action={action} onChange={setAction} />
      <Button
        size="xs"
        variant="default"
        disabled={pattern === '' || action === undefined}
        onClick={() => {
          if (action !== undefined) onAdd({ pattern, findings: { [chosen]: action } });
          setPattern('');
        }}
      >
        Add
      </Button>
    </Group>
  );
}
