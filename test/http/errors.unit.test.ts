import { expect } from 'chai';
import { refusal } from '../../src/http/answer/answer.js';
import { errorBody, refused, STATUS } from '../../src/http/errors.js';
import { failureAnswer } from '../../src/http/answer/failure-answer.js';
import { lockTimeout, unavailable } from '../../src/postgres/errors.js';
import { ProblemError } from '../../src/kernel/problem.js';

const lines: { message: string; fields: Record<string, unknown> | undefined }[] = [];
const log = (message: string, fields?: Record<string, unknown>) => void lines.push({ message, fields });
const logger = { debug: log, info: log, warn: log, error: log };

const failure = (error: unknown) => failureAnswer(error, 'request-1', { logger, primaryUrl: null });
const headerOf = (headers: readonly string[], name: string) => headers[headers.indexOf(name) + 1];

describe('errors', () => {
  beforeEach(() => (lines.length = 0));

  it('have one shape, with the code and what is known of the place', () => {
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
      ]),
    ).deep.equal({
      errors: [
        {
          message: 'no',
          extensions: { code: 'INVALID_PAYLOAD', path: 'fields[2].type', collection: 'a', field: 'b', x: 1 },
        },
        { message: 'gone', extensions: { code: 'NOT_FOUND' } },
      ],
    });
  });

  it('have the status of their code', () => {
    expect(STATUS.CONTENT_TOO_LARGE).equal(413);
    expect(refusal([{ code: 'SCHEMA_CHANGED', message: 'x' }]).status).equal(409);
    expect(failure(refused('UNSUPPORTED_MEDIA_TYPE', 'x')).status).equal(415);
  });

  it('say when to come back', () => {
    for (const problem of [lockTimeout(), unavailable('x')]) {
      const { status, headers } = failure(new ProblemError(problem));
      expect(status).equal(503);
      expect(Number(headerOf(headers, 'Retry-After'))).greaterThan(0);
    }
  });

  it('say how to authenticate', () => {
    const { status, headers } = refusal([{ code: 'UNAUTHENTICATED', message: 'x' }]);
    expect(status).equal(401);
    expect(headerOf(headers, 'WWW-Authenticate')).match(/^Bearer /);
  });

  it('of the database being away are 503', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:5432'), { code: 'ECONNREFUSED' });
    const { status, body } = failure(error);
    expect(status).equal(503);
    expect(String(body)).include('UNAVAILABLE').not.include('192.0.2.1');
  });

  it('that are unexpected are 500, with the details in the log alone', () => {
    const error = new TypeError("Cannot read properties of undefined (reading 'secret')");
    const { status, body } = failure(error);
    expect(status).equal(500);
    expect(JSON.parse(String(body)))
      .nested.property('errors[0].extensions')
      .deep.equal({
        code: 'INTERNAL',
        request_id: 'request-1',
      });
    expect(String(body)).not.include('secret');
    expect(lines).deep.equal([{ message: 'request failed', fields: { request_id: 'request-1', error } }]);
  });
});
