/** Beside the changes: what would be lost and until when it can be undone, what there is to know, whom it locks. */
import { Button, Text } from '@mantine/core';
import { Fragment, type ReactNode, useMemo } from 'react';
import type { Finding } from '../../../service/types.js';
import { brief } from '../../../shared/brief.js';
import { Time } from '../../../shared/time.js';
import { type LockedTable, type Loss, lossesOf, otherFindings } from '../model/plan.js';
import { acknowledgedAs } from '../model/policy.js';
import { Stopped } from './policy-stops.js';
import { sizeText } from '../../../shared/amounts.js';
import type { Review } from '../use-review.js';
import classes from './parts.module.css';
import { placeText } from '../../../../schema/model/place.js';

interface Props {
  review: Review;
  /** Of the source: what was left out of a file, and the like. */
  warnings: readonly Finding[];
}

/** Says that nothing is lost only once there is a plan. What the policy stops stands first, and once. */
export function Risks({ review, warnings }: Props) {
  const { plan, isPlanning, stops } = review;
  const losses = useMemo(() => (plan === undefined ? [] : lossesOf(plan)), [plan]);
  const stopped = useMemo(() => new Set(stops.map(({ key }) => key)), [stops]);
  const others = useMemo(
    () => otherFindings([...(plan?.warnings ?? []), ...warnings]).filter((each) => !stopped.has(acknowledgedAs(each))),
    [plan, warnings, stopped],
  );
  return (
    <aside className={classes.risks} aria-label="What to know before" tabIndex={0}>
      {isPlanning && plan === undefined && <Text c="dimmed">Planning …</Text>}
      <Stopped review={review}>{(finding) => <Found finding={finding} review={review} />}</Stopped>
      {plan !== undefined && losses.length + others.length === 0 && (
        <section className={classes.section}>
          <h2>Nothing is lost</h2>
          <Text size="sm">No data goes, no table is rewritten, and no row can stand in the way.</Text>
        </section>
      )}
      <Section title="What would be lost" tone="bad" of={losses}>
        {(loss) => <Lost loss={loss} />}
      </Section>
      <Section title="What to know" tone="warn" of={others}>
        {(finding) => <Found finding={finding} review={review} />}
      </Section>
      <Section title="What is locked" of={plan?.tables ?? []}>
        {(table) => <Locked table={table} />}
      </Section>
    </aside>
  );
}

/** More than anybody reads. */
const MOST = 100;

interface SectionProps<T> {
  title: string;
  tone?: 'bad' | 'warn';
  of: readonly T[];
  children: (each: T) => ReactNode;
}

function Section<T>({ title, tone, of, children }: SectionProps<T>) {
  if (of.length === 0) return null;
  return (
    <section className={classes.section} data-tone={tone}>
      <h2>{title}</h2>
      <ul className={classes.notes}>
        {of.slice(0, MOST).map((each) => (
          <li key={JSON.stringify(each)}>{children(each)}</li>
        ))}
      </ul>
      {of.length > MOST && (
        <Text size="xs" c="dimmed">
          and {(of.length - MOST).toLocaleString()} more
        </Text>
      )}
    </section>
  );
}

const Name = ({ children }: { children: string }) => (
  <strong>
    <bdi>{children}</bdi>
  </strong>
);

function Lost({ loss: { until, message, isForGood, ...lost } }: { loss: Loss }) {
  return (
    <>
      <Name>{placeText(lost)}</Name>
      <br />
      {until === null ? (
        <span>
          {isForGood && <em>For good. </em>}
          {brief(message, 600)}
        </span>
      ) : (
        <span>
          can come back with its data; the trash lets it go <Time at={until} />
        </span>
      )}
    </>
  );
}

const LEVELS = { note: 'note', warn: 'look at it', danger: 'danger' } as const;

function Found({ finding, review }: { finding: Finding; review: Review }) {
  const { code, level, message, why, safer, places = [] } = finding;
  const { online, setOnline } = review.options;
  const isOnline = safer?.request?.path.includes('online') === true;
  return (
    <>
      <Name>{placeText(finding) || 'The whole'}</Name>{' '}
      <code className={classes.code} data-level={level}>
        {LEVELS[level]} · {code}
      </code>
      <br />
      {brief(message, 600)}
      {places.length > 1 && ` (in ${places.length.toLocaleString()} places)`}
      {why !== '' && <span className={classes.why}>{brief(why, 600)}</span>}
      {safer !== undefined && (
        <span className={classes.why}>
          <em>Safer:</em> {brief(safer.text, 600)}
        </span>
      )}
      {isOnline && !online && (
        <Button size="compact-xs" variant="default" mt={6} onClick={() => setOnline(true)}>
          Take the safer way
        </Button>
      )}
    </>
  );
}

/** What others can't do meanwhile. */
const LOCKS: Readonly<Record<string, string>> = {
  'ACCESS EXCLUSIVE': 'nobody else reads or writes it meanwhile',
  'SHARE ROW EXCLUSIVE': 'others read it, and wait to write',
  SHARE: 'others read it, and wait to write',
  'SHARE UPDATE EXCLUSIVE': 'others read and write it',
};

function Locked({ table: { table, lock, ...size } }: { table: LockedTable }) {
  const facts = [LOCKS[lock] ?? lock, sizeText(size) ?? 'its size is not known yet'];
  return (
    <>
      <Name>{table}</Name> <code className={classes.code}>{lock}</code>
      <br />
      {facts.map((fact, index) => (
        <Fragment key={fact}>
          {index > 0 && '; '}
          {fact}
        </Fragment>
      ))}
    </>
  );
}
