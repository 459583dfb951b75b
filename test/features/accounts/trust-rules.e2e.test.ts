import { expect } from 'chai';
import type { TrustRule } from '../../../src/schema/model/token-scope.js';
import { json, type Reply } from '../../support/client.js';
import { withService } from '../../support/with-service.js';

const GITHUB = 'https://token.actions.githubusercontent.com';
const GITLAB = 'https://gitlab.com';

describe('the patterns of trust rules', () => {
  const { client } = withService();

  const put = (rules: Pick<TrustRule, 'issuer' | 'claims'>[]): Promise<Reply> => {
    const scope = { role: 'admin', actions: ['read'] };
    const named = rules.map((rule, index) => ({
      name: `rule ${index}`,
      audience: 'https://dps.example.com',
      scope,
      ...rule,
    }));
    return client('/auth/trust', json({ rules: named }, 'PUT'));
  };

  it('are rejected if everyone can get ID tokens of the issuer and they do not name the owner', async () => {
    for (const [issuer, sub] of [
      [GITHUB, 'repo:*'],
      [GITHUB, 'repo:shop*'],
      [GITHUB, 'repo:*/schema:ref:refs/heads/main'],
      [GITHUB, '*:ref:refs/heads/main'],
      [GITHUB, 'environment:production'],
      [GITHUB, 'ref:refs/heads/*'],
      [GITHUB, 'job_workflow_ref:shop/ci/*'],
      [GITLAB, 'project_path:*:ref_type:branch:ref:main'],
    ] as const) {
      const { status, json: body } = await put([{ issuer, claims: { sub, repository: 'shop*', ref: 'main' } }]);
      const { errors } = body as { errors: { message: string; extensions: { path: string } }[] };
      expect([status, errors.map(({ extensions }) => extensions.path)], sub).deep.equal([400, ['rules[0].claims.sub']]);
      expect(errors[0]?.message).to.contain('must name the owner of the repository');
    }
  });

  it('are accepted if they name the owner, or if only known users get ID tokens of the issuer', async () => {
    const rules: Pick<TrustRule, 'issuer' | 'claims'>[] = [
      { issuer: GITHUB, claims: { sub: 'repo:shop/*' } },
      { issuer: GITHUB, claims: { sub: 'repo:shop/schema:ref:refs/heads/release-*' } },
      { issuer: GITHUB, claims: { sub: 'repo:*:ref:refs/heads/main', repository_owner: 'shop' } },
      { issuer: GITLAB, claims: { sub: 'project_path:shop/*' } },
      { issuer: 'https://gitlab.example.com', claims: { sub: 'project_path:*' } },
    ];
    const { status, text } = await put(rules);
    expect(status, text).to.equal(200);
  });
});
