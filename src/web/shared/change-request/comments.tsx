/** Comments on a change request, and on individual changes in it. */
import { Badge, Button, Group, Text, Textarea } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { actorName } from '../../../schema/model/events.js';
import { describeLocation } from '../../../schema/merge/model.js';
import { useMay } from '../../service/session.js';
import type { ChangePlace, ChangeRequest } from '../../service/types.js';
import { SteadyButton } from '../buttons.js';
import { objectTitle, titleOf } from '../changes/sentences.js';
import { SwappedForm } from '../form.js';
import { messages } from '../messages.js';
import { Name } from '../name.js';
import { Section } from '../page.js';
import { ProblemAlert } from '../problem-alert.js';
import { Time } from '../time.js';
import { useAct } from './later.js';

const words = messages.changeRequest;

/** The place of a comment: `field articles.title`. */
function locationTitle(place: ChangePlace): string {
  if (place.part === 'objects') return objectTitle(place);
  const field = 'field' in place ? place.field : null;
  return titleOf({ part: place.part, collection: place.collection, field, kind: null });
}

type Comment = NonNullable<ChangeRequest['proposal']>['comments'][number];

/** All comments. Those on a single change name it. */
export function Comments({ request, comments }: { request: ChangeRequest; comments: readonly Comment[] }) {
  const mayComment = useMayComment(request);
  return (
    <Section title={words.comments}>
      {comments.map(({ place, ...remark }) => (
        <RemarkLine
          key={remark.position}
          remark={remark}
          note={null}
          {...(place !== null && { detail: <Name of={words.on(locationTitle(place))} /> })}
        />
      ))}
      {comments.length === 0 && <Text size="sm">{words.noComments}</Text>}
      {mayComment && <CommentForm id={request.id} label={words.comment} />}
    </Section>
  );
}

/** The comments on one change, with a button to add one. */
export function ChangeComments({ request, place }: { request: ChangeRequest; place: ChangePlace }) {
  const mayComment = useMayComment(request);
  const [name, title] = [describeLocation(place), locationTitle(place)];
  const comments = request.proposal?.comments ?? [];
  return (
    <>
      {comments
        .filter((comment) => comment.place !== null && describeLocation(comment.place) === name)
        .map((comment) => (
          <RemarkLine key={comment.position} remark={comment} note={null} />
        ))}
      {mayComment && (
        <SwappedForm
          button={(button, open) => (
            <Button
              ref={button}
              variant="subtle"
              color="gray"
              size="compact-xs"
              mt={6}
              ml={-8}
              aria-label={words.commentOn(title)}
              onClick={open}
            >
              {words.comment}
            </Button>
          )}
          form={(close) => <CommentForm id={request.id} place={place} label={words.commentOn(title)} onClose={close} />}
        />
      )}
    </>
  );
}

const useMayComment = ({ proposal, allowed }: ChangeRequest): boolean =>
  useMay('propose') && proposal !== null && allowed.includes('comment');

interface CommentFormProps {
  id: string;
  /** The change that the comment is about. Without it, the comment is about the whole request. */
  place?: ChangePlace;
  label: string;
  onClose?: () => void;
}

function CommentForm({ id, place, label, onClose }: CommentFormProps) {
  const [text, setText] = useState('');
  const doing = useAct(id);
  const onSent = () => {
    // If the user has typed something in the meantime, it belongs to the next comment and stays.
    setText((now) => (now === text ? '' : now));
    onClose?.();
  };
  const send = () =>
    doing.mutate({ action: 'comment', json: { comment: text, ...(place && { place }) } }, { onSuccess: onSent });
  return (
    <>
      <Group align="flex-end" gap="sm" mt="sm">
        <Textarea
          label={label}
          autosize
          minRows={1}
          maxLength={10_000}
          style={{ flexGrow: 1 }}
          // The form closes when the comment is sent.
          readOnly={onClose !== undefined && doing.isPending}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <SteadyButton variant="default" disabled={text.trim() === ''} loading={doing.isPending} onClick={send}>
          {words.comment}
        </SteadyButton>
        {onClose && (
          <Button variant="default" onClick={onClose}>
            {words.cancel}
          </Button>
        )}
      </Group>
      {doing.error !== null && <ProblemAlert error={doing.error} />}
    </>
  );
}

interface RemarkLineProps {
  remark: Pick<Comment, 'by' | 'at' | 'text'>;
  note: string | null;
  /** Follows the time. */
  detail?: ReactNode;
}

/** Shows a comment, an approval or a rejection. */
export function RemarkLine({ remark: { by, at, text }, note, detail }: RemarkLineProps) {
  return (
    <div>
      <Group gap="xs" mt="xs">
        <Text size="sm" fw={550}>
          {actorName(by)}
        </Text>
        <Text size="xs" c="dimmed">
          <Time at={at} />
          {detail !== undefined && <>, {detail}</>}
        </Text>
        {note !== null && (
          <Badge variant="light" color="gray" tt="none">
            {note}
          </Badge>
        )}
      </Group>
      {text !== null && (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      )}
    </div>
  );
}
