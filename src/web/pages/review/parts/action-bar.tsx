/* The reason, and the buttons to apply or propose. */
import {
  Button,
  Group,
  Popover,
  Stack,
  Switch,
  TextInput,
  ActionIcon,
  Menu,
  Tooltip,
  Text,
  NativeSelect,
} from '@mantine/core';
import { useMemo, type ReactNode, useRef, useState } from 'react';
import downloadIcon from 'icon:download';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ConnectionError } from '../../../service/send.js';
import { useMay, useSession } from '../../../service/session.js';
import { ConfirmButton, SteadyButton, useCopy } from '../../../shared/buttons.js';
import { abbreviate } from '../../../shared/text.js';
import { deletedCollections } from '../model/items.js';
import { lossesOf, scriptOf, curlFor } from '../model/plan.js';
import { LONGEST_REASON } from '../model/sentences.js';
import type { Review } from '../use-review.js';
import classes from './parts.module.css';
import { addressOf } from '../../../service/review-queries.js';
import { saveText } from '../../../shared/save.js';
import { Glyph } from '../../../shared/glyph.js';
import { ownRequestsQuery, propose, proposeInstead } from '../../../service/change-queries.js';
import { CHANGE, SCHEMA } from '../../../service/queries.js';
import type { ChangeSummary } from '../../../service/types.js';
import { newId } from '../../../shared/use-attempt.js';
import { ProblemAlert, PurgeOffer } from '../../../shared/problem-alert.js';
import { useHere } from '../../../shared/focus.js';
import { useIsReasonRequired, useLacksReason } from '../../../shared/form.js';
import { messages } from '../messages.js';

const { actions: texts, export: exportTexts, propose: proposeTexts, verdict: verdictTexts } = messages;

/* Proposes the review instead of applying it, either as a new change request or as an update of one of the user's
   requests. */

interface ProposeProps {
  review: Review;
  isHeld: boolean;
}

/**
 * The main button for users who may not apply. Afterwards, the change request is opened.
 * @param props.isHeld true if nothing can be sent now
 */
function Propose({ review, isHeld }: ProposeProps) {
  const isAll = !useMay('carryOut');
  // Acknowledgements are needed before the request is opened. Approvals are given to the request itself.
  const isAsked = review.stops.some(({ canBeKnown, isKnown }) => canBeKnown && !isKnown);
  // The state is stored here and not in the popover, so that closing the popover keeps the input.
  const [typed, setTyped] = useState<ActionInput>({ title: null, into: '' });
  const proposing = useProposing(review);
  return (
    <Popover position="top-end" shadow="md" width={320} withinPortal={false} trapFocus returnFocus>
      <Popover.Target>
        <SteadyButton variant={isAll ? 'filled' : 'default'} disabled={isHeld || review.isPlanning || isAsked}>
          {proposeTexts.button}
        </SteadyButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={proposeTexts.label}>
        <Form typed={typed} onType={setTyped} suggested={review.suggestedTitle} proposing={proposing} />
      </Popover.Dropdown>
    </Popover>
  );
}

interface ActionInput {
  /** The typed title. If null, a new request has the suggested title, and an existing request keeps its own. */
  title: string | null;
  /** The id of the request to update. Empty for a new one. */
  into: string;
}

interface FormProps {
  typed: ActionInput;
  onType: (typed: ActionInput) => void;
  /** The suggested title of a new request. */
  suggested: string;
  proposing: ReturnType<typeof useProposing>;
}

function Form({ typed, onType, suggested, proposing }: FormProps) {
  const own = useOwnRequests();
  const into = own.some(({ id }) => id === typed.into) ? typed.into : '';
  const isNew = into === '';
  const title = typed.title ?? (isNew ? suggested : '');
  return (
    <Stack gap="md">
      {own.length > 0 && (
        <NativeSelect
          label={proposeTexts.as}
          data={[
            { value: '', label: proposeTexts.newRequest },
            ...own.map(({ id, title: called }) => ({
              value: id,
              label: proposeTexts.replace(abbreviate(called ?? id, 80)),
            })),
          ]}
          value={into}
          onChange={(event) => onType({ ...typed, into: event.currentTarget.value })}
        />
      )}
      <TextInput
        label={proposeTexts.title}
        description={isNew ? proposeTexts.aboutNew : proposeTexts.aboutUpdate}
        maxLength={200}
        value={title}
        onChange={(event) => onType({ ...typed, title: event.currentTarget.value })}
      />
      <SteadyButton
        loading={proposing.isPending}
        disabled={isNew && title.trim() === ''}
        onClick={() => proposing.mutate({ title: title.trim(), into })}
      >
        {isNew ? proposeTexts.open : proposeTexts.update}
      </SteadyButton>
      {proposing.error !== null && <ProblemAlert error={proposing.error} />}
    </Stack>
  );
}

function useOwnRequests(): readonly ChangeSummary[] {
  const session = useSession();
  const id = 'user' in session ? session.user.id : '';
  return useQuery({ ...ownRequestsQuery(id), enabled: id !== '' }).data ?? [];
}

function useProposing({ applying, about, why, onProposed }: Review) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const isHere = useHere();
  const attempt = useRef<{ key: string; about: object; of: string } | null>(null);
  return useMutation({
    mutationFn: async ({ title, into }: { title: string; into: string }) => {
      const of = JSON.stringify([applying.acknowledge, why, title, into]);
      // If there was no response, a retry with the same key takes effect only once.
      const isSame = attempt.current?.about === about && attempt.current.of === of;
      if (attempt.current === null || !isSame) attempt.current = { key: newId(), about, of };
      const { key } = attempt.current;
      const { id } = await (into === ''
        ? propose(applying, { title, reason: why, key })
        : proposeInstead(into, applying, { title, reason: why === '' ? undefined : why, key }));
      // The result refers to the content that was sent, because the shown content may have changed.
      return { id, onSent: onProposed };
    },
    onSuccess: async ({ id, onSent }) => {
      attempt.current = null;
      if (isHere()) await navigate({ to: '/review', search: { change: id } });
      onSent();
      await client.invalidateQueries({ queryKey: [CHANGE, id] });
      await client.invalidateQueries({ queryKey: [SCHEMA] });
    },
    onError: (error) => {
      if (!(error instanceof ConnectionError)) attempt.current = null;
    },
  });
}

/* Shows the result of the last dry run, and why no other dry run is possible. */

interface VerdictProps {
  review: Review;
  held: string | null;
}

/**
 * Renders nothing if there is neither a dry run nor an obstacle.
 * @param props.held why the change cannot be applied now. Null if it can
 */
function Verdict({ review, held }: VerdictProps) {
  const { carriedOut, isPlanning, plan, why } = review;
  const lacksReason = useLacksReason(why);
  return (
    <div className={classes.verdict} role="status">
      {carriedOut.length === 0 && <Text size="sm">{verdictTexts.nothingSelected}</Text>}
      {held !== null && <Text size="sm">{held}</Text>}
      {isPlanning && plan !== undefined && <Text size="sm">{messages.planning}</Text>}
      {held === null && lacksReason && <Text size="sm">{verdictTexts.lacksReason}</Text>}
      {held === null && <ByPolicy review={review} />}
      {held === null && <Planned review={review} />}
      <RejectedReview review={review} />
      <PermitPurge review={review} />
      <NoAnswer review={review} />
    </div>
  );
}

function ByPolicy({ review: { stops } }: { review: Review }) {
  const left = stops.filter(({ isKnown }) => !isKnown);
  if (left.length === 0) return null;
  const isRefused = left.some(({ canBeKnown }) => !canBeKnown);
  return (
    <Text size="sm" className={classes.badText}>
      {isRefused ? verdictTexts.blocked(left.length) : verdictTexts.acknowledge(left.length)}
    </Text>
  );
}

/** Maximum length of a message. Longer messages are shown with the steps of the request. */
const LONGEST = 400;

function Planned({ review: { plan, isRehearsed } }: { review: Review }) {
  if (plan === undefined) return null;
  if (plan.online !== undefined) {
    const steps = plan.online.steps.map(({ summary }) => summary).join('; ');
    return <Text size="sm">{verdictTexts.prepares(abbreviate(steps, LONGEST))}</Text>;
  }
  if (!isRehearsed || plan.accepted !== true) return null;
  return (
    <Text size="sm" className={classes.good}>
      {messages.dryRunSucceeded}
    </Text>
  );
}

function RejectedReview({ review: { problems } }: { review: Review }) {
  const { at, elsewhere } = problems;
  return (
    <>
      {at.size > 0 && <ErrorText>{verdictTexts.rejected(at.size)}</ErrorText>}
      {elsewhere.map(({ message }) => (
        <ErrorText key={message}>{message}</ErrorText>
      ))}
    </>
  );
}

function PermitPurge({ review: { problems, options, carryOut, rehearsal } }: { review: Review }) {
  if (options.purge) return null;
  const accept = () => {
    carryOut.reset();
    rehearsal.reset();
    options.setPurge(true);
  };
  return <PurgeOffer problems={[...[...problems.at.values()].flat(), ...problems.elsewhere]} onAccept={accept} />;
}

function NoAnswer({ review: { carryOut, rehearsal, planError } }: { review: Review }) {
  const error = carryOut.error ?? rehearsal.error ?? planError;
  if (!(error instanceof ConnectionError)) return null;
  return (
    <ErrorText>
      {error.message} {carryOut.error !== null && verdictTexts.applyAgain}
    </ErrorText>
  );
}

const ErrorText = ({ children }: { children: ReactNode }) => (
  <Text size="sm" className={classes.badText} role="alert">
    {children}
  </Text>
);

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';

/** Exports the selected items. SQL can be exported once there is a plan. */
function ExportMenu({ review }: { review: Review }) {
  const { copy, copied } = useCopy();
  const { applying, plan, why } = review;
  const sent = () => ({ hash: applying.hash, diff: applying.diff() });
  const curl = () =>
    curlFor({ origin: location.origin, path: addressOf(applying), body: JSON.stringify(sent()), reason: why });
  const asYaml = async () => (await import('../../../service/yaml.js')).yamlText(sent());
  const label = copied ? exportTexts.copied : exportTexts.label;
  return (
    <Menu position="top-start" shadow="md" withinPortal={false}>
      <Menu.Target>
        <Tooltip label={label}>
          <ActionIcon variant="default" size={36} aria-label={label}>
            <Glyph path={downloadIcon} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{exportTexts.download}</Menu.Label>
        <Menu.Item onClick={() => saveText('diff.json', JSON_TYPE, JSON.stringify(sent(), null, 2))}>
          {exportTexts.json}
        </Menu.Item>
        <Menu.Item onClick={() => void asYaml().then((text) => saveText('diff.yaml', YAML_TYPE, text))}>
          {exportTexts.yaml}
        </Menu.Item>
        {plan !== undefined && (
          <Menu.Item onClick={() => saveText('change.sql', 'application/sql', scriptOf(plan))}>
            {exportTexts.sql}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Label>{exportTexts.copy}</Menu.Label>
        <Menu.Item onClick={() => copy(curl())}>{exportTexts.asCurl}</Menu.Item>
        <Menu.Item onClick={() => copy(JSON.stringify(sent(), null, 2))}>{exportTexts.asDiff}</Menu.Item>
        <Menu.Item onClick={() => void asYaml().then(copy)}>{exportTexts.asYaml}</Menu.Item>
        {plan !== undefined && <Menu.Item onClick={() => copy(scriptOf(plan))}>{exportTexts.asSql}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}

interface Props {
  review: Review;
  /** Why the change cannot be applied now. Null if it can. */
  held: string | null;
}

/**
 * The actions for users who may propose. Dry runs and applying are for admins. A loss of data needs a second
 * confirmation that lists the data.
 */
export function ActionBar({ review, held }: Props) {
  const { why, setReason, carryOut, carriedOut } = review;
  const mayCarryOut = useMay('carryOut');
  const isReasonRequired = useIsReasonRequired();
  const isNothing = carriedOut.length === 0;
  return (
    <section className={classes.bar} aria-label={texts.label}>
      <TextInput
        className={classes.reason}
        aria-label={texts.reason}
        required={isReasonRequired}
        placeholder={isReasonRequired ? texts.requiredReason : texts.recordedReason}
        maxLength={LONGEST_REASON}
        value={why}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <Group gap="xs" wrap="nowrap" className={classes.actions}>
        <ExportMenu review={review} />
        <Options review={review} />
        {mayCarryOut && <DryRun review={review} isHeld={isNothing || held !== null} />}
        <Propose review={review} isHeld={isNothing || held !== null} />
        {mayCarryOut && (
          <Apply
            review={review}
            isHeld={isNothing || (held !== null && !(carryOut.error instanceof ConnectionError))}
          />
        )}
      </Group>
      <Verdict review={review} held={held} />
    </section>
  );
}

function DryRun({ review: { rehearsal, carryOut }, isHeld }: { review: Review; isHeld: boolean }) {
  return (
    <SteadyButton
      variant="default"
      loading={rehearsal.isPending}
      disabled={isHeld}
      onClick={() => {
        carryOut.reset();
        rehearsal.mutate();
      }}
    >
      {messages.dryRun}
    </SteadyButton>
  );
}

function Apply({ review, isHeld }: { review: Review; isHeld: boolean }) {
  const { plan, isPlanning, carryOut, carriedOut, rehearsal, options, stops, why } = review;
  const lacksReason = useLacksReason(why);
  const losses = useMemo(() => (plan === undefined ? [] : lossesOf(plan)), [plan]);
  // Nobody confirms the loss of an empty table, so the service must reject it if the table has rows by then.
  const lossless = losses.length === 0 && !options.online && plan?.statements.some((each) => each.loses_data) === true;
  const apply = () => {
    rehearsal.reset();
    carryOut.mutate({ lossless });
  };
  // The user must see a loss of data before applying.
  const isDisabled = isHeld || isPlanning || lacksReason || stops.some(({ isKnown }) => !isKnown);
  const deleted = deletedCollections(carriedOut).length;

  return (
    <ConfirmButton
      variant="filled"
      {...((deleted > 0 || losses.length > 0) && { color: 'red.8' })}
      label={applyText(options.online, deleted)}
      sure={
        losses.length === 0
          ? null
          : texts.confirmLoss(lossText(losses.map(({ collection, field }) => field ?? collection)))
      }
      loading={carryOut.isPending}
      disabled={isDisabled}
      onConfirm={apply}
    />
  );
}

function applyText(isOnline: boolean, deleted: number): string {
  if (deleted === 0) return isOnline ? texts.prepare : texts.apply;
  return isOnline ? texts.prepareAndDelete(deleted) : texts.applyAndDelete(deleted);
}

const lossText = (names: readonly string[]): string => {
  const [first = ''] = names;
  const name = Array.from(first).length > 18 ? `${Array.from(first).slice(0, 17).join('')}…` : first;
  return names.length === 1 ? name : texts.objects(names.length);
};

function Options({ review: { options } }: { review: Review }) {
  const { online, setOnline, purge, setPurge } = options;
  const count = Number(online) + Number(purge);
  return (
    <Popover position="top-end" shadow="md" width={320} withinPortal={false} trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default">{count > 0 ? texts.chosenOptions(count) : texts.options}</Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={texts.options}>
        <Stack gap="md">
          <Switch
            size="sm"
            label={texts.online}
            description={texts.aboutOnline}
            checked={online}
            onChange={(event) => setOnline(event.currentTarget.checked)}
          />
          <Switch
            size="sm"
            label={texts.purge}
            description={texts.aboutPurge}
            checked={purge}
            onChange={(event) => setPurge(event.currentTarget.checked)}
          />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
