import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { ROOT } from './support/documents.js';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Service {
  image?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  environment?: Record<string, string>;
}

describe('docker-compose.yml', () => {
  const schema = CORE_SCHEMA.withTags(mergeTag);
  const { services, secrets } = load(read('docker-compose.yml'), { schema }) as {
    services: Record<string, Service>;
    secrets: Record<string, { file: string }>;
  };

  for (const [name, service] of Object.entries(services)) {
    it(`runs "${name}" read-only, without capabilities and without new privileges`, () => {
      expect(service.read_only).equal(true);
      expect(service.cap_drop).deep.equal(['ALL']);
      expect(service.security_opt).deep.equal(['no-new-privileges:true']);
    });

    it(`publishes the ports of "${name}" on this machine only`, () => {
      for (const port of service.ports ?? []) expect(port).match(/^\$\{BIND_ADDRESS:-127\.0\.0\.1\}:/);
    });

    it(`passes secrets to "${name}" as files`, () => {
      for (const [variable, value] of Object.entries(service.environment ?? {})) {
        const isSecret = /PASSWORD|TOKEN|SECRET|(^|_)DATABASE_URL/.test(variable);
        if (isSecret) expect(`${variable}=${value}`).match(/^[A-Z_]+_FILE=\/run\/secrets\//);
      }
    });

    it(`pins the image of "${name}" by digest`, () => {
      if (service.image !== undefined) expect(service.image).match(/@sha256:[0-9a-f]{64}$/);
    });
  }

  it('has a secret file for every mounted secret', () => {
    const script = read('scripts/docker/create-secrets.sh');
    for (const name of Object.keys(secrets)) {
      const [, host] = /^database_url_(.+)$/.exec(name) ?? [];
      expect(script).match(new RegExp(`^for (name|host) in .*(?<= )${host ?? name}[ ;]`, 'm'));
    }
  });
});

describe('the Dockerfiles', () => {
  for (const file of ['Dockerfile', 'scripts/docker/pgbouncer/Dockerfile'])
    it(`pin every base image of ${file} by digest`, () => {
      const images = [...read(file).matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
      expect(images).not.empty;
      for (const image of images) expect(image).match(/@sha256:[0-9a-f]{64}$/);
    });
});
