import { createRequire } from 'node:module';

export interface Validate {
  (value: unknown): boolean;
  errors?: unknown;
}

/** The official schema uses draft 4, which its own validator supports and ours does not. */
export function sarifSchema(): Validate {
  const path = createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
  const theirs = createRequire(path);
  const Draft4 = theirs('ajv') as new (options: object) => {
    addMetaSchema(schema: unknown): void;
    compile(schema: unknown): Validate;
  };
  const ajv = new Draft4({ schemaId: 'id', allErrors: true, logger: false });
  ajv.addMetaSchema(theirs('ajv/lib/refs/json-schema-draft-04.json'));
  return ajv.compile(theirs(path));
}
