/** The text that the service prints on stdout when it is ready: address, credentials and a first request to try. */
import type { Service } from './app.js';
import type { Config } from './config.js';

/** Returns lines that end with a newline. They contain a password or a token only if this start generated it. */
export function startupMessage({ url, admin }: Pick<Service, 'url' | 'admin'>, config: Config): string {
  const { passwordGenerated, tokenGenerated } = admin;
  const app = config.app ? [`Open ${url}/app in a browser`] : [];
  const lines = [...app, `The Data Platform Service listens on ${url}`, `Admin: ${admin.email}`];
  if (passwordGenerated !== undefined) lines.push(`Password (generated, shown only once): ${passwordGenerated}`);
  if (tokenGenerated !== undefined) lines.push(`Token (generated, shown only once): ${tokenGenerated}`);
  if (!admin.created)
    lines.push(`An API token was created at the first start. To create another: npx dps tokens add ${admin.email}`);
  for (const name of admin.ignored) {
    lines.push(
      `${name} differs from the stored credentials of ${admin.email} and has no effect. To change them: npx dps users, npx dps tokens`,
    );
  }
  const token = tokenGenerated ?? (admin.created && config.admin.token !== null ? '$ADMIN_TOKEN' : '$TOKEN');
  return [...lines, '', 'Try it:', '', ...firstRequest(url, token), ''].join('\n');
}

function firstRequest(url: string, token: string): string[] {
  const body =
    '{"collection": "first_steps", "schema": {}, "fields": [{"field": "title", "type": "string", "interface": "input"}]}';
  return [
    `  curl ${url}/collections -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" \\`,
    `    -d '${body}'`,
  ];
}
