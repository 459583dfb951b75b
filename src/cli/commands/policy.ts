import type { z } from 'zod';
import type { policyTest } from '../../http/openapi/answers/operating.js';
import { type ExitCode, type Invocation, isSet, text } from '../command.js';
import { describeWarning, readAcknowledgements, describePolicy } from '../planned-changes.js';
import { parseDocument, readDocument } from '../input.js';
import { show as print } from '../output.js';
import { requestData, changeHeaders } from '../connections/service.js';
import { openRequest } from '../../features/change-requests/cli-proposals.js';

/** Prints the current policy. With --json, the output is in the format that `set` reads. */
export async function show(invocation: Invocation): Promise<ExitCode> {
  const policy = await requestData(invocation, 'getPolicy');
  print(invocation, policy, () => describePolicy(policy));
  return 0;
}

/** Replaces the whole policy. Missing members get their defaults. */
export async function set(invocation: Invocation): Promise<ExitCode> {
  const headers = changeHeaders(invocation);
  const body = await documentOf(invocation, invocation.positionals[0] ?? '', 'a policy');
  const policy = await requestData(invocation, 'setPolicy', { headers, body });
  print(invocation, policy, () => describePolicy(policy));
  return 0;
}

/** Opens a change request for a policy. */
export async function propose(invocation: Invocation): Promise<ExitCode> {
  const policy = await documentOf(invocation, invocation.positionals[0] ?? '', 'a policy');
  return openRequest(invocation, { policy });
}

type PolicyTestResult = z.output<typeof policyTest>;

/** Tests a change against the policy without changing anything. Returns 3 unless the policy allows the change. */
export async function test(invocation: Invocation): Promise<ExitCode> {
  const { values, positionals } = invocation;
  const change = await documentOf(invocation, positionals[0] ?? '');
  const file = text(values, 'policy');
  const acknowledge = readAcknowledgements(values);
  const body = {
    ...('diff' in change ? { diff: change } : { snapshot: change }),
    ...(file !== undefined && { policy: await documentOf(invocation, file, 'a policy') }),
    ...(acknowledge.length > 0 && { acknowledge }),
  };
  const query = {
    online: isSet(values, 'online'),
    force: isSet(values, 'force'),
  };
  const tested = await requestData(invocation, 'testPolicy', { query, body });
  print(invocation, tested, () => describeTest(tested));
  return tested.outcome === 'allowed' ? 0 : 3;
}

const documentOf = async (invocation: Invocation, file: string, kind?: 'a policy'): Promise<object> =>
  parseDocument(await readDocument(invocation, file), file, kind);

/** Returns one line per finding, and then the outcome. */
export function describeTest({ outcome, approvals, findings }: PolicyTestResult): string {
  const lines = findings.map((finding) => `! ${describeWarning(finding)}`);
  const needed = approvals === null || outcome !== 'approve' ? '' : ` (${approvals})`;
  return [...lines, `${OUTCOMES[outcome]}${needed}.`].join('\n');
}

const OUTCOMES: Readonly<Record<PolicyTestResult['outcome'], string>> = {
  allowed: 'The policy allows it',
  acknowledge: 'The policy requires an acknowledgement',
  approve: 'The policy requires approvals of a change request',
  refuse: 'The policy rejects it',
};
