import { SqlText } from '../../../shared/catalog.js';
import { Button, Text, Checkbox, Table, Code } from '@mantine/core';
import { Fragment, type ReactNode, useMemo } from 'react';
import type { ChangeRequest, Finding } from '../../../service/types.js';
import { abbreviate, sizeText } from '../../../shared/text.js';
import { Time } from '../../../shared/time.js';
import { type LockedTable, type Loss, lossesOf, otherFindings, type Statement } from '../model/plan.js';
import { acknowledgementText, type Stop, policyChanges } from '../model/requested-diff.js';
import type { Review } from '../use-review.js';
import classes from './parts.module.css';
import { locationText } from '../../../../schema/model/location.js';
import { DEFAULT_POLICY, type Policy } from '../../../../schema/policy.js';
import { Section } from '../../../shared/page.js';
import { CopyButton } from '../../../shared/buttons.js';
import { Message, Name } from '../../../shared/name.js';
import { locale } from '../../../shared/language.js';
import { messages } from '../messages.js';

const { policy: policyTexts, risks: texts, statements: statementTexts } = messages;

/* The policy in a review: findings that it blocks, with a checkbox to acknowledge them, and a proposed policy. */

interface StoppedProps {
  review: Review;
  /** Renders a finding. */
  children: (finding: Finding) => ReactNode;
}

/** Maximum number of findings that are shown. */
const MOST = 100;

/**
 * Renders nothing if the policy blocks nothing. Shows up to a hundred findings, first those that cannot be
 * acknowledged, and the number of others.
 */
function Stopped({ review: { stops, acknowledge }, children }: StoppedProps) {
  if (stops.length === 0) return null;
  return (
    <section className={classes.section} data-tone="bad">
      <h2>{texts.blocked}</h2>
      <ul className={classes.notes}>
        {stops.slice(0, MOST).map((stop) => (
          <li key={stop.key}>
            {children(stop.finding)}
            <Verdict stop={stop} onKnown={(isKnown) => acknowledge(stop.key, isKnown)} />
          </li>
        ))}
      </ul>
      {stops.length > MOST && (
        <Text size="xs" c="dimmed">
          {messages.and(stops.length - MOST)}
        </Text>
      )}
    </section>
  );
}

function Verdict({ stop, onKnown }: { stop: Stop; onKnown: (isKnown: boolean) => void }) {
  const { finding, canBeKnown, isKnown, key } = stop;
  if (canBeKnown)
    return (
      <Checkbox
        mt={6}
        size="xs"
        label={texts.acknowledge}
        aria-label={texts.acknowledgeOf(key)}
        checked={isKnown}
        onChange={(event) => onKnown(event.currentTarget.checked)}
      />
    );
  return (
    <Text size="xs" fw={600} mt={4}>
      {finding.action === 'approve' ? texts.requiresApproval : messages.request.actions.refuse}
    </Text>
  );
}

/** @param props.from the policy in force. Null if the request is closed: members that differ from the defaults are shown */
export function ProposedPolicy({ from, to }: { from: Policy | null; to: Policy }) {
  const changes = policyChanges(from ?? DEFAULT_POLICY, to);
  return (
    <Section title={policyTexts.title}>
      {changes.length === 0 ? (
        <Text size="sm">{from === null ? policyTexts.setsDefaults : policyTexts.isSame}</Text>
      ) : (
        <Table.ScrollContainer minWidth={320} type="native" tabIndex={0}>
          <Table verticalSpacing={6} aria-label={policyTexts.changes}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{policyTexts.setting}</Table.Th>
                <Table.Th>{from === null ? policyTexts.default : policyTexts.inForce}</Table.Th>
                <Table.Th>{policyTexts.proposed}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {changes.map((change) => (
                <Table.Tr key={change.name}>
                  <Table.Td>
                    <bdi>{change.name}</bdi>
                  </Table.Td>
                  <Table.Td>{change.from}</Table.Td>
                  <Table.Td>{change.to}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Section>
  );
}

const LONGEST = 8_000;

interface Props {
  statements: readonly Statement[];
  tables: ReadonlyMap<string, LockedTable>;
}

/**
 * Shows statements. Long ones are truncated, but copying includes everything.
 * @param props.tables the tables that the plan locks, by name
 */
export function Statements({ statements, tables }: Props) {
  return (
    <ul className={classes.statements}>
      {statements.map((statement, index) => {
        const { sql, summary, lock, collection, rewrites_table: rewrites } = statement;
        const table = tables.get(collection);
        return (
          <li key={`${index} ${summary}`} className={classes.statement}>
            <Text size="xs" className={classes.lock} data-lock={lock === 'ACCESS EXCLUSIVE' || undefined}>
              {lockText(lock, collection, table)}
              {rewrites && ` · ${messages.item.rewrites}`}
            </Text>
            <div className={classes.sql}>
              <Code block tabIndex={0} aria-label={statementTexts.label(abbreviate(summary, 120))}>
                <SqlText sql={sql.length > LONGEST ? `${sql.slice(0, LONGEST)}\n${statementTexts.truncated}` : sql} />
              </Code>
              <CopyButton text={sql} label={statementTexts.copy} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function lockText(lock: string, collection: string, table: LockedTable | undefined): string {
  if (lock === 'none' || table === undefined) return statementTexts.noLock;
  const size = sizeText(table);
  const text = statementTexts.lock(abbreviate(collection, 60), lock);
  return size === null ? text : `${text} · ${size}`;
}

interface RisksProps {
  review: Review;
  /** Warnings of the source, for example skipped parts of a file. */
  warnings: readonly Finding[];
}

/**
 * Shows the risks of a review. "No data loss" is shown only once there is a plan. Findings that the policy blocks are
 * not repeated.
 */
export function Risks({ review, warnings }: RisksProps) {
  const { plan, isPlanning, stops } = review;
  const losses = useMemo(() => (plan === undefined ? [] : lossesOf(plan)), [plan]);
  const stopped = useMemo(() => new Set(stops.map(({ key }) => key)), [stops]);
  const others = useMemo(
    () =>
      otherFindings([...(plan?.warnings ?? []), ...warnings]).filter((each) => !stopped.has(acknowledgementText(each))),
    [plan, warnings, stopped],
  );
  return (
    <aside className={classes.risks} aria-label={messages.workspace.risks} tabIndex={0}>
      {isPlanning && plan === undefined && <Text c="dimmed">{messages.planning}</Text>}
      <RiskSections
        isSafe={plan !== undefined && losses.length + stops.length + others.length === 0}
        losses={losses}
        findings={others}
        tables={plan?.tables ?? []}
        stopped={
          <Stopped review={review}>{(finding) => <ReviewedFinding finding={finding} review={review} />}</Stopped>
        }
      >
        {(finding) => <ReviewedFinding finding={finding} review={review} />}
      </RiskSections>
    </aside>
  );
}

interface RiskSectionsProps {
  /** True if the plan has no risks. */
  isSafe: boolean;
  losses: readonly Loss[];
  /** Objects that the change restores from the trash. */
  returns?: NonNullable<ChangeRequest['planned']>['returns'];
  findings: readonly Finding[];
  /** Existing tables that the change locks. */
  tables: readonly LockedTable[];
  /** The findings that the policy blocks. */
  stopped?: ReactNode;
  /** Renders a finding. */
  children: (finding: Finding) => ReactNode;
}

/** Shows the risks of any change: data loss first, then findings and locks. */
export function RiskSections(props: RiskSectionsProps) {
  const { isSafe, losses, returns = [], findings, tables, stopped, children } = props;
  return (
    <>
      {isSafe && (
        <section className={classes.section}>
          <h2>{texts.noLoss}</h2>
          <Text size="sm">{texts.aboutNoLoss}</Text>
        </section>
      )}
      <RiskSection title={texts.losses} tone="bad" of={losses} alike={lossGroup}>
        {(loss) => <Lost loss={loss} />}
      </RiskSection>
      <RiskSection title={texts.restored} of={returns}>
        {({ kept_until: until, collection, field }) => (
          <>
            <PlaceName>{locationText({ collection, field })}</PlaceName>
            <br />
            {until === null ? texts.notInTrash : texts.restoredUntil(<Time at={until} />)}
          </>
        )}
      </RiskSection>
      {stopped}
      <RiskSection title={texts.findings} tone="warn" of={findings} alike={findingGroup}>
        {children}
      </RiskSection>
      <RiskSection title={texts.locks} of={tables}>
        {(table) => <LockNote table={table} />}
      </RiskSection>
    </>
  );
}

/** The maximum number shown. */
const MAX_RISKS_SHOWN = 100;

/** Maximum number of similar entries that are shown individually. More of them form a group. */
const MOST_SINGLE = 3;

interface RiskSectionProps<T> {
  title: string;
  tone?: 'bad' | 'warn';
  of: readonly T[];
  /** Returns the key and the text of the group of similar entries. Without this function, there are no groups. */
  alike?: (each: T) => RiskGroup;
  children: (each: T) => ReactNode;
}

interface RiskGroup {
  key: string;
  text: ReactNode;
}

/** Renders nothing for an empty list. A group shows the number of its entries, and lists them when it is opened. */
function RiskSection<T>({ title, tone, of, alike, children }: RiskSectionProps<T>) {
  const groups = useMemo(() => groupAlike(of, alike), [of, alike]);
  if (of.length === 0) return null;
  return (
    <section className={classes.section} data-tone={tone}>
      <h2>{title}</h2>
      <RiskList of={groups}>
        {({ text, entries }) =>
          text === null ? (
            entries.map((each) => <Fragment key={JSON.stringify(each)}>{children(each)}</Fragment>)
          ) : (
            <details className={classes.group}>
              <summary>
                <strong>{entries.length.toLocaleString(locale)}</strong> × {text}
              </summary>
              <RiskList of={entries}>{children}</RiskList>
            </details>
          )
        }
      </RiskList>
    </section>
  );
}

function RiskList<T>({ of, children }: { of: readonly T[]; children: (each: T) => ReactNode }) {
  return (
    <>
      <ul className={classes.notes}>
        {of.slice(0, MAX_RISKS_SHOWN).map((each) => (
          <li key={JSON.stringify(each)}>{children(each)}</li>
        ))}
      </ul>
      {of.length > MAX_RISKS_SHOWN && (
        <Text size="xs" c="dimmed">
          {messages.and(of.length - MAX_RISKS_SHOWN)}
        </Text>
      )}
    </>
  );
}

interface Group<T> {
  /** The text of the group. Null for a single entry. */
  text: ReactNode;
  entries: readonly T[];
}

/** Groups similar entries. The groups are ordered by their first entries. */
function groupAlike<T>(of: readonly T[], alike?: (each: T) => RiskGroup): Group<T>[] {
  if (alike === undefined) return of.map((each) => ({ text: null, entries: [each] }));
  const groups = new Map<string, { text: ReactNode; entries: T[] }>();
  for (const each of of) {
    const { key, text } = alike(each);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { text, entries: [each] });
    else group.entries.push(each);
  }
  return [...groups.values()].flatMap((group): Group<T>[] =>
    group.entries.length > MOST_SINGLE ? [group] : group.entries.map((each) => ({ text: null, entries: [each] })),
  );
}

const findingGroup = ({ level, code }: Pick<Finding, 'level' | 'code'>): RiskGroup => ({
  key: `${level} ${code}`,
  text: <CodeText level={level} code={code} />,
});

function lossGroup({ isKept, isForGood }: Loss): RiskGroup {
  if (isKept) return { key: 'kept', text: texts.keptData };
  return isForGood ? { key: 'permanent', text: texts.permanentLoss } : { key: 'unknown', text: texts.unknownLoss };
}

const PlaceName = ({ children }: { children: string }) => (
  <strong>
    <Name of={children} />
  </strong>
);

function Lost({ loss: { until, message, isForGood, ...lost } }: { loss: Loss }) {
  return (
    <>
      <PlaceName>{locationText(lost)}</PlaceName>
      <br />
      {until === null ? (
        <span>
          {isForGood && <em>{texts.permanent} </em>}
          {abbreviate(message, 600)}
        </span>
      ) : (
        <span>{texts.keptUntil(<Time at={until} />)}</span>
      )}
    </>
  );
}

const CodeText = ({ level, code }: Pick<Finding, 'level' | 'code'>) => (
  <code className={classes.code} data-level={level}>
    {texts.levels[level]} · {code}
  </code>
);

function ReviewedFinding({ finding, review }: { finding: Finding; review: Review }) {
  const { online, setOnline } = review.options;
  const isOnline = finding.safer?.request?.path.includes('online') === true;
  return (
    <>
      <FindingNote finding={finding} />
      {isOnline && !online && (
        <Button size="compact-xs" variant="default" mt={6} onClick={() => setOnline(true)}>
          {texts.prepareOnline}
        </Button>
      )}
    </>
  );
}

export function FindingNote({ finding }: { finding: Finding }) {
  const { code, level, message, why, safer, places = [] } = finding;
  return (
    <>
      <PlaceName>{locationText(finding) || texts.entireSchema}</PlaceName> <CodeText level={level} code={code} />
      <br />
      <Message of={abbreviate(message, 600)} />
      {places.length > 1 && ` ${texts.inPlaces(places.length)}`}
      {why !== '' && (
        <span className={classes.why}>
          <Message of={abbreviate(why, 600)} />
        </span>
      )}
      {safer !== undefined && (
        <span className={classes.why}>
          <em>{texts.safer}</em> <Message of={abbreviate(safer.text, 600)} />
        </span>
      )}
    </>
  );
}

/** The effect of each lock during the transaction. */
const LOCKS: Readonly<Record<string, string>> = texts.effects;

function LockNote({ table: { table, lock, ...size } }: { table: LockedTable }) {
  const facts = [LOCKS[lock] ?? lock, sizeText(size) ?? texts.sizeUnknown];
  return (
    <>
      <PlaceName>{table}</PlaceName> <code className={classes.code}>{lock}</code>
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
