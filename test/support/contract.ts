/**
 * Checks tests' requests and responses against the OpenAPI document: every response must be described, and every
 * accepted body valid.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { documentOfRoutes } from './openapi.js';

export interface Observed {
  method: string;
  /** The path with its query. */
  path: string;
  /** The sent JSON; undefined otherwise. */
  sent: unknown;
  status: number;
  contentType: string | null;
  /** The received JSON; undefined for none. */
  received: unknown;
}

interface Operation {
  pointer: string;
  responses: Record<string, { content?: Record<string, object>; $ref?: string }>;
}

interface Contract {
  ajv: Ajv2020;
  /** In route order: fixed paths before those with parameters. */
  paths: { pattern: RegExp; operations: Map<string, Operation> }[];
  compiled: Map<string, ValidateFunction>;
}

let contract: Contract | undefined;

/** Throws an assertion error if the document and the service differ. */
export function expectContract(observed: Observed): void {
  contract ??= readContract();
  const { method, path, status } = observed;
  const shown = `${method} ${path}: ${status}`;
  const operation = operationOf(contract, method, path);
  if (operation === undefined) {
    if (status >= 400 && method !== 'HEAD') check(contract, '#/components/schemas/Errors', observed.received, shown);
    return;
  }
  checkAnswer(contract, operation, observed, shown);
  checkRequest(contract, operation, observed, shown);
}

function checkAnswer(known: Contract, operation: Operation, observed: Observed, shown: string): void {
  const { status, received, path } = observed;
  const response = operation.responses[status];
  if (response === undefined) expect.fail(`${shown} is not in the document`);
  if (response.$ref === undefined && response.content === undefined) {
    expect(received, `${shown} has a body, which is not in the document`).equal(undefined);
    return;
  }
  const type = (observed.contentType ?? '').replace(/;.*/, '');
  expect(Object.keys(response.content ?? { 'application/json': {} }), `${shown}: its media type`).include(type);
  // For selected members and files, only the types are known.
  const isPart = /[?&]fields=/.test(path) && status < 300;
  if (type !== 'application/json' || isPart) return;
  const place = response.$ref ?? `${operation.pointer}/responses/${status}`;
  check(known, `${place}/content/application~1json/schema`, received, shown);
}

function checkRequest(known: Contract, operation: Operation, { status, sent, path }: Observed, shown: string): void {
  // With force, the service accepts documents from other products in their own format.
  if (status >= 300 || sent === undefined || /[?&]force(=true|=1|=?&|=?$)/.test(path)) return;
  check(known, `${operation.pointer}/requestBody/content/application~1json/schema`, sent, `${shown}, its body`);
}

function check(known: Contract, place: string, value: unknown, shown: string): void {
  let validate = known.compiled.get(place);
  if (validate === undefined) {
    validate = known.ajv.compile({ $ref: `openapi${place}` });
    known.compiled.set(place, validate);
  }
  if (validate(value)) return;
  const faults = known.ajv.errorsText(validate.errors, { separator: '\n' });
  expect.fail(`${shown} is not as the document says (${place}):\n${faults}\n${JSON.stringify(value)?.slice(0, 2_000)}`);
}

/** A fixed path hides one with parameters, including for methods that it lacks: `DELETE /users/me` deletes no user. */
function operationOf({ paths }: Contract, method: string, path: string): Operation | undefined {
  const name = path.replace(/[?#].*/, '');
  return paths.find(({ pattern }) => pattern.test(name))?.operations.get(method.toLowerCase());
}

function readContract(): Contract {
  const document = documentOfRoutes();
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: 'openapi' });
  const paths = Object.entries(document.paths).map(([template, methods]) => {
    const path = template.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
    return {
      pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      operations: new Map(
        Object.entries(methods).map(([method, { responses }]) => [
          method,
          { pointer: `#/paths/${path}/${method}`, responses: responses as Operation['responses'] },
        ]),
      ),
    };
  });
  return { ajv, paths, compiled: new Map() };
}
