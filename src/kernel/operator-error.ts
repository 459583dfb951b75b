/** An error for the operator of the service. Its message is one sentence and is shown without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
