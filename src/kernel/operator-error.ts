/** An error whose message is one sentence for the person who runs the service: shown as it is, without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
