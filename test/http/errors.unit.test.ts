import { expect } from 'chai';
import { refusalAnswer, failureAnswer } from '../../src/http/answer/answer.js';
import { errorBody, type ErrorBody, refused, RejectedError, STATUS } from '../../src/http/errors.js';
import { createLogUnreadableProblem } from '../../src/pipeline/diverged.js';
import { UnreadableEventError } from '../../src/schema/fold/upcasting.js';
import { lockTimeout, unavailableProblem } from '../../src/postgres/errors.js';
import { ProblemError } from '../../src/kernel/problem.js';
import { AbandonedError, OverloadedError } from '../../src/kernel/scheduler.js';

const lines: { message: string; fields: Record<string, unknown> | undefined }[] = [];
const log = (message: string, fields?: Record<string, unknown>) => void lines.push({ message, fields });
const logger = { debug: log, info: log, warn: log, error: log };

let overloads = 0;
const context = { logger, primaryUrl: null, onOverload: () => void (overloads += 1) };
const failure = (error: unknown) => failureAnswer(error, 'request-1', context);
const headerOf = (headers: readonly string[], name: string) => headers[headers.indexOf(name) + 1];

describe('errors', () => {
  beforeEach(() => (lines.length = 0));

  it('overload and abandoned shared work return 503 OVERLOADED with Retry-After, and are not logged as an unavailable database', () => {
    const poolIsFull = new Error('timeout exceeded when trying to connect');
    for (const [index, error] of [new OverloadedError('too much'), new AbandonedError('left'), poolIsFull].entries()) {
      const { status, headers, body } = failure(error);
      expect([status, headerOf(headers, 'Retry-After')]).to.deep.equal([503, '2']);
      expect(body).to.include('"code":"OVERLOADED"');
      expect(overloads).to.equal(index + 1);
    }
    expect(lines).to.deep.equal([]);
  });

  it('have one format with the code and the known location', () => {
    expect(
      errorBody([
        {
          code: 'INVALID_PAYLOAD',
          message: 'no',
          path: 'fields[2].type',
          collection: 'a',
          field: 'b',
          details: { x: 1 },
        },
        { code: 'NOT_FOUND', message: 'gone', path: '' },
        { code: 'IN_USE', message: 'used', subject: { kind: 'field', collection: 'a', field: 'b', member: ['x'] } },
      ]),
    ).deep.equal({
      errors: [
        {
          message: 'no',
          extensions: { code: 'INVALID_PAYLOAD', path: 'fields[2].type', collection: 'a', field: 'b', x: 1 },
        },
        { message: 'gone', extensions: { code: 'NOT_FOUND' } },
        { message: 'used', extensions: { code: 'IN_USE', subject: { kind: 'field', collection: 'a', field: 'b' } } },
      ],
    });
  });

  it('have the status of their code', () => {
    expect(STATUS).deep.equal({
      INVALID_PAYLOAD: 400,
      INVALID_QUERY: 400,
      INVALID_REQUEST: 400,
      UNAUTHENTICATED: 401,
      FORBIDDEN: 403,
      NOT_FOUND: 404,
      ROUTE_NOT_FOUND: 404,
      METHOD_NOT_ALLOWED: 405,
      NOT_ACCEPTABLE: 406,
      REQUEST_TIMEOUT: 408,
      ALREADY_EXISTS: 409,
      SCHEMA_CHANGED: 409,
      IN_USE: 409,
      INVALID_STATE: 409,
      PLAN_CHANGED: 409,
      IDEMPOTENCY_MISMATCH: 409,
      MERGE_CONFLICT: 409,
      DIVERGED: 409,
      PRECONDITION_FAILED: 412,
      CONTENT_TOO_LARGE: 413,
      UNSUPPORTED_MEDIA_TYPE: 415,
      EXPECTATION_FAILED: 417,
      DATABASE_REFUSED: 422,
      ONLINE_NOT_POSSIBLE: 422,
      OVERLOADED: 503,
      POLICY_REFUSED: 422,
      TOO_MANY_REQUESTS: 429,
      HEADERS_TOO_LARGE: 431,
      INTERNAL: 500,
      LOCK_TIMEOUT: 503,
      LOG_DIVERGED: 503,
      LOG_UNREADABLE: 503,
      READ_ONLY: 503,
      UNAVAILABLE: 503,
    });
    // The first one determines the status.
    const problems = (['SCHEMA_CHANGED', 'INVALID_PAYLOAD'] as const).map((code) => ({ code, message: 'x' }));
    expect(refusalAnswer(problems).status).equal(409);
  });

  it('have Retry-After or WWW-Authenticate where it applies', () => {
    const NO_STORE = ['Cache-Control', 'no-store'];
    for (const [code, expected] of [
      ['LOCK_TIMEOUT', ['Retry-After', '1']],
      ['UNAVAILABLE', ['Retry-After', '2']],
      ['READ_ONLY', ['Retry-After', '5']],
      ['UNAUTHENTICATED', ['WWW-Authenticate', 'Bearer realm="data-platform-service"']],
      ['LOG_DIVERGED', []],
      ['FORBIDDEN', []],
    ] as const) {
      const { headers, body } = refusalAnswer([{ code, message: 'x' }]);
      const content = ['Content-Type', 'application/json; charset=utf-8'];
      const length = ['Content-Length', String(String(body).length)];
      expect(headers, code).deep.equal([...content, ...expected, ...length, ...NO_STORE]);
      const own = refusalAnswer([{ code, message: 'x' }], ['Retry-After', '60']);
      expect(own.headers, code).deep.equal([...content, 'Retry-After', '60', ...length, ...NO_STORE]);
    }
  });

  it('follow from the thrown error', () => {
    const thrown: [error: Error, status: number, code: string, message: string][] = [
      [refused('UNSUPPORTED_MEDIA_TYPE', 'x'), 415, 'UNSUPPORTED_MEDIA_TYPE', 'x'],
      [new ProblemError(lockTimeout()), 503, 'LOCK_TIMEOUT', lockTimeout().message],
      [new ProblemError(unavailableProblem('away')), 503, 'UNAVAILABLE', 'away'],
      [
        new UnreadableEventError(7, 'x'),
        503,
        'LOG_UNREADABLE',
        createLogUnreadableProblem({ position: 7, message: 'event 7 cannot be read: x' } as UnreadableEventError)
          .message,
      ],
      [new URIError('URI malformed'), 400, 'INVALID_QUERY', 'The path contains an invalid percent-encoding.'],
    ];
    for (const [error, status, code, message] of thrown) {
      const answer = failure(error);
      expect(answer.status).equal(status);
      const [problem] = (JSON.parse(String(answer.body)) as ErrorBody).errors;
      expect([problem?.extensions.code, problem?.message]).deep.equal([code, message]);
    }
    const { headers } = failure(
      new RejectedError([{ code: 'REQUEST_TIMEOUT', message: 'x' }], ['Connection', 'close']),
    );
    expect(headerOf(headers, 'Connection')).equal('close');
    expect(lines).deep.equal([]);
  });

  it('an unavailable database returns 503', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:5432'), { code: 'ECONNREFUSED' });
    const { status, body } = failure(error);
    expect(status).equal(503);
    expect(String(body)).include('UNAVAILABLE').not.include('192.0.2.1');
    expect(lines).deep.equal([
      { message: 'request failed because the database is unavailable', fields: { request_id: 'request-1', error } },
    ]);
  });

  it('an unexpected error returns 500, with details only in the log', () => {
    const error = new TypeError("Cannot read properties of undefined (reading 'secret')");
    const { status, body } = failure(error);
    expect(status).equal(500);
    expect(JSON.parse(String(body))).deep.equal({
      errors: [
        {
          message: 'Internal error. Look for this request id in the service log.',
          extensions: { code: 'INTERNAL', request_id: 'request-1' },
        },
      ],
    });
    expect(lines).deep.equal([{ message: 'request failed', fields: { request_id: 'request-1', error } }]);
  });
});
