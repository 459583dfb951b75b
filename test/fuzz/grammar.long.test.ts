import { expect } from 'chai';
import { GRAMMAR } from '../../scripts/fuzz/grammar/index.js';
import { documentOfRoutes } from '../support/openapi.js';

describe("the fuzzer's grammar", () => {
  it('has a rule for each route of the OpenAPI document, and no others', () => {
    const routes = Object.entries(documentOfRoutes().paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(Object.keys(GRAMMAR)).to.have.members(routes);
  });
});
