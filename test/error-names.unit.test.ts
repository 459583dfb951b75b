/** A log line starts with the name of the error's class. */
import { expect } from 'chai';
import { UsageError } from '../src/cli/command.js';
import { RejectedError } from '../src/http/errors.js';
import { JsonFault } from '../src/http/body/json.js';
import { AbandonedError, OverloadedError } from '../src/kernel/scheduler.js';
import { ClientGone } from '../src/http/body/limited-bytes.js';
import { YamlError, YamlSizeError } from '../src/http/formats.js';
import { NotInTimeError } from '../src/kernel/time.js';
import { OperatorError, type Problem, ProblemError } from '../src/kernel/problem.js';
import { LogDivergedError, createStartPoint } from '../src/log/fold.js';
import { NoteError } from '../src/log/signed-checkpoints/checkpoint.js';
import { RefusedError } from '../src/log/signed-checkpoints/targets.js';
import { redact } from '../src/logger.js';
import { DivergedError } from '../src/pipeline/diverged.js';
import { LogBusyError } from '../src/pipeline/transaction/begin.js';
import {
  NoLongerPreparingError,
  LostError,
  TemporaryObstacleError,
} from '../src/features/change-requests/advance-request.js';
import { StaleConnectionError } from '../src/pipeline/transaction/begin.js';
import { UnknownOutcomeError, CommitInDoubt } from '../src/pipeline/transaction/commit.js';
import { CommandRefused } from '../src/pipeline/types.js';
import { ExchangeError, LostConnectionError } from '../src/postgres/errors.js';
import { LockedError } from '../src/projector/ddl/table-locks.js';
import { UnsafeSqlError } from '../src/projector/ddl/sql.js';
import { IndexBuildError } from '../src/projector/indexes/catch-up.js';
import { PreparationRefused } from '../src/projector/online/types.js';
import { FutureMomentError } from '../src/reads/history/index.js';
import { UnreadableEventError } from '../src/schema/fold/upcasting.js';

const SAYS = 'why';
const PROBLEM: Problem = { code: 'IN_USE', message: SAYS };
const CAUSE = new Error(SAYS);
const TARGET = {} as IndexBuildError['target'];
const LOST = {} as CommitInDoubt['lost'];
const DONE = {} as CommitInDoubt;

/** One error per class with its further arguments. */
const ERRORS: readonly [error: Error, name: string, message?: string][] = [
  [new UsageError(SAYS), 'UsageError'],
  [new RejectedError([PROBLEM]), 'RejectedError'],
  [new RejectedError([]), 'RejectedError', 'rejected'],
  [new JsonFault('syntax', SAYS, { path: [], at: null }), 'JsonFault'],
  [new ClientGone(SAYS), 'ClientGone'],
  [new AbandonedError(SAYS), 'AbandonedError'],
  [new OverloadedError(SAYS), 'OverloadedError'],
  [new YamlError(SAYS), 'YamlError'],
  [new YamlSizeError(SAYS), 'YamlSizeError'],
  [new NotInTimeError(SAYS), 'NotInTimeError'],
  [new OperatorError(SAYS), 'OperatorError'],
  [new ProblemError(PROBLEM), 'ProblemError'],
  [new LogDivergedError(7, SAYS), 'LogDivergedError', 'event 7 why'],
  [new NoteError(SAYS), 'NoteError'],
  [new RefusedError(SAYS), 'RefusedError'],
  [
    new DivergedError(createStartPoint()),
    'DivergedError',
    'the log has forked: it no longer contains the events that were read before',
  ],
  [new LogBusyError(SAYS), 'LogBusyError'],
  [new NoLongerPreparingError(SAYS), 'NoLongerPreparingError'],
  [new TemporaryObstacleError(SAYS), 'TemporaryObstacleError'],
  [new LostError(SAYS), 'LostError'],
  [new StaleConnectionError(SAYS), 'StaleConnectionError'],
  [new UnknownOutcomeError(SAYS), 'UnknownOutcomeError'],
  [new CommitInDoubt(LOST, DONE), 'CommitInDoubt', 'the outcome of a commit is not known'],
  [new CommandRefused([PROBLEM]), 'CommandRefused'],
  [new CommandRefused([]), 'CommandRefused', 'refused'],
  [new ExchangeError(CAUSE, []), 'ExchangeError'],
  [new ExchangeError(SAYS, []), 'ExchangeError'],
  [new LostConnectionError(SAYS), 'LostConnectionError'],
  [new LockedError(CAUSE, []), 'LockedError'],
  [new LockedError(SAYS, []), 'LockedError'],
  [new UnsafeSqlError('no name', 'a"'), 'UnsafeSqlError', 'no name: "a\\""'],
  [new IndexBuildError(7, TARGET, CAUSE), 'IndexBuildError'],
  [new IndexBuildError(7, TARGET, SAYS), 'IndexBuildError'],
  [new PreparationRefused([PROBLEM]), 'PreparationRefused'],
  [new PreparationRefused([]), 'PreparationRefused', 'refused'],
  [new FutureMomentError(SAYS), 'FutureMomentError'],
  [new UnreadableEventError(7, SAYS), 'UnreadableEventError', 'event 7 cannot be read: why'],
];

describe('an error in a log line', () => {
  for (const [error, name, message = SAYS] of ERRORS)
    it(`has the name of its class, ${name}, and its message, "${message}"`, () => {
      expect(redact({ error })).to.have.property('error').that.includes({ name, message });
    });
});
