import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';
import { CORE_SCHEMA, defineSequenceTag, load, mergeTag } from 'js-yaml';
import { SECRETS, SETTINGS, readConfig } from '../src/config.js';
import { applyPatch } from '../src/schema/fold/rename-events.js';
import type { Operation } from 'fast-json-patch';
import { ROOT, blocksOf, filesUnder } from './support/documents.js';
import { validateManifest } from './support/kubernetes.js';
import { documentOfRoutes } from './support/openapi.js';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Service {
  image?: string;
  build?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  volumes?: string[];
}

interface ComposeFile {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  volumes?: Record<string, null>;
}

/** First removes the list of files. */
const resetTag = defineSequenceTag<unknown[]>('!reset', {
  create: () => [],
  addItem: () => '"!reset" must have an empty list',
  identify: () => false,
});

const yaml = <Content>(text: string): Content =>
  load(text, { schema: CORE_SCHEMA.withTags(mergeTag, resetTag) }) as Content;

const composeFile = (file: string): ComposeFile =>
  ({ secrets: {}, ...yaml<Partial<ComposeFile>>(read(file)) }) as ComposeFile;

const KNOWN_VARIABLES = [...SETTINGS, ...SECRETS.map((name) => `${name}_FILE`)];

/** Files that are passed to `docker compose` after docker-compose.yml. */
const OVERLAYS = filesUnder('deploy/compose', '.yml');

const base = composeFile('docker-compose.yml');
const files = ['docker-compose.yml', ...OVERLAYS].map((file) => ({ file, ...composeFile(file) }));

for (const { file, services, secrets, volumes = {} } of files) {
  const names = { secrets: { ...base.secrets, ...secrets }, volumes: { ...base.volumes, ...volumes } };

  describe(file, () => {
    for (const [name, service] of Object.entries(services)) {
      const isNew = file === 'docker-compose.yml' || base.services[name] === undefined;

      if (isNew)
        it(`runs "${name}" read-only, without capabilities or new privileges`, () => {
          expect(service.read_only).equal(true);
          expect(service.cap_drop).deep.equal(['ALL']);
          expect(service.security_opt).deep.equal(['no-new-privileges:true']);
          expect(service.image ?? service.build).a('string');
        });

      it(`publishes the ports of "${name}" on this machine only`, () => {
        for (const port of service.ports ?? []) expect(port).match(/^\$\{(?:TLS_)?BIND_ADDRESS:-127\.0\.0\.1\}:/);
      });

      it(`passes secrets to "${name}" as files`, () => {
        for (const [variable, value] of Object.entries(service.environment ?? {})) {
          const isSecret = /PASSWORD|TOKEN|SECRET|(^|_)DATABASE_URL|DB_URI/.test(variable);
          if (!isSecret) continue;
          const [, secret = ''] =
            /^(?:[A-Z_]+_FILE=|PGRST_[A-Z_]+=@)\/run\/secrets\/(.+)$/.exec(`${variable}=${value}`) ?? [];
          expect(secret, variable).not.equal('');
        }
      });

      it(`pins the image of "${name}" by digest`, () => {
        if (service.image !== undefined) expect(service.image).match(/@sha256:[0-9a-f]{64}$/);
      });

      it(`mounts only files, secrets and volumes in "${name}" that exist`, () => {
        expect(Object.keys(names.secrets)).to.include.members(service.secrets ?? []);
        for (const volume of service.volumes ?? []) {
          const [source = ''] = volume.split(':');
          if (source.startsWith('.')) expect(existsSync(join(ROOT, source)), source).equal(true);
          else expect(Object.keys(names.volumes)).to.include(source);
        }
      });
    }

    it('sets only settings that the service reads', () => {
      for (const [name, { environment = {} }] of Object.entries(services))
        if (name.startsWith('service')) expect(KNOWN_VARIABLES).to.include.members(Object.keys(environment));
    });
  });
}

/** The port that the image exposes. */
const [, port = ''] = /^EXPOSE (\d+)$/m.exec(read('Dockerfile')) ?? [];

describe('the proxy of deploy/compose/tls.yml', () => {
  const { service, proxy } = composeFile('deploy/compose/tls.yml').services;
  const caddyfile = read('deploy/compose/Caddyfile');

  it('is the only way to the service, which trusts it', () => {
    expect(read('deploy/compose/tls.yml')).match(/^ {4}ports: !reset \[\]$/m);
    expect(service?.ports).deep.equal([]);
    expect(readConfig({ ...service?.environment }).trustProxy).equal(1);
  });

  it('sends requests to the port of the service', () => {
    expect(caddyfile).match(new RegExp(`^\\treverse_proxy service:${port}$`, 'm'));
  });

  it('has every variable of the Caddyfile', () => {
    const variables = [...caddyfile.matchAll(/\{\$(\w+)/g)].map(([, name]) => name);
    expect(variables).not.empty;
    expect(Object.keys(proxy?.environment ?? {})).to.have.members(variables);
  });
});

type Labels = Record<string, string>;

interface Probe {
  httpGet: { path: string; port: string };
}

interface Container {
  image: string;
  securityContext: Record<string, unknown>;
  ports: { name: string; containerPort: number }[];
  envFrom: { configMapRef: { name: string } }[];
  env: { name: string; value: string }[];
  volumeMounts: { name: string; mountPath: string }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  lifecycle: { preStop: { exec: { command: string[] } } };
}

interface Deployment {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Labels };
  spec: {
    selector: { matchLabels: Labels };
    template: {
      metadata: { labels: Labels };
      spec: {
        automountServiceAccountToken: boolean;
        terminationGracePeriodSeconds: number;
        securityContext: Record<string, unknown>;
        topologySpreadConstraints: { labelSelector: { matchLabels: Labels } }[];
        containers: Container[];
        volumes: { name: string; secret?: { secretName: string; items: { key: string; path: string }[] } }[];
      };
    };
  };
}

interface KubernetesService {
  metadata: { labels: Labels };
  spec: { selector: Labels; ports: { name: string; targetPort: string }[] };
}

interface Kustomization {
  resources: string[];
  images?: { name: string; newName: string }[];
  nameSuffix: string;
  labels: { pairs: Labels; includeSelectors: boolean }[];
  configMapGenerator: { name: string; behavior?: string; literals: string[] }[];
  patches: { target: { kind: string; name: string }; patch: string }[];
}

describe('deploy/kubernetes', () => {
  const folder = 'deploy/kubernetes';
  const manifest = <Content>(file: string): Content => yaml(read(`${folder}/${file}`));
  const kustomizations = filesUnder(folder, 'kustomization.yaml');

  const deployment = manifest<Deployment>('base/deployment.yaml');
  const service = manifest<KubernetesService>('base/service.yaml');
  const budget = manifest<{ spec: { selector: { matchLabels: Labels } } }>('base/pod-disruption-budget.yaml');
  const primary = manifest<Kustomization>('base/kustomization.yaml');
  const replicas = manifest<Kustomization>('replicas/kustomization.yaml');
  const patched = replicas.patches.reduce(
    (document, { patch }) => applyPatch(document, yaml<Operation[]>(patch)),
    deployment,
  );

  let paths: ReturnType<typeof documentOfRoutes>['paths'];
  before(() => ({ paths } = documentOfRoutes(false)));

  const literalsOf = ({ configMapGenerator }: Kustomization): Record<string, string> =>
    Object.fromEntries(
      configMapGenerator.flatMap(({ literals }) =>
        literals.map((literal) => [literal.replace(/=.*$/, ''), literal.replace(/^[^=]*=/, '')]),
      ),
    );

  it('lists only files that exist, and every manifest', () => {
    const listed = kustomizations.flatMap((file) =>
      yaml<Kustomization>(read(file)).resources.map((path) => normalize(join(dirname(file), path))),
    );
    for (const path of listed) expect(existsSync(join(ROOT, path)), path).equal(true);
    const manifests = filesUnder(folder, '.yaml').filter(
      (file) => !kustomizations.includes(file) && !file.startsWith(`${folder}/helm/`),
    );
    expect(listed).to.include.members(manifests);
    expect(kustomizations).to.have.length(3);
  });

  it('matches the schemas of Kubernetes and of the Prometheus Operator', () => {
    const monitor = manifest<Deployment>('monitoring/service-monitor.yaml');
    for (const each of [deployment, patched, service, budget, monitor]) validateManifest(each as Deployment);
    expect(() => validateManifest({ ...deployment, kind: 'Deploymnt' })).to.throw('There is no schema');
    const replicas = { ...deployment, spec: { ...deployment.spec, replicas: '2' } };
    expect(() => validateManifest(replicas)).to.throw('data/spec/replicas must be integer');
  });

  for (const [name, { metadata, spec }, settings] of [
    ['base', deployment, literalsOf(primary)],
    ['replicas', patched, { ...literalsOf(primary), ...literalsOf(replicas) }],
  ] as const) {
    const pod = spec.template.spec;
    const [container] = pod.containers as [Container];

    describe(name, () => {
      it('runs the service as another user than root, read-only and without capabilities', () => {
        expect(pod.containers).to.have.length(1);
        expect(pod.securityContext).to.include({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
        expect(pod.automountServiceAccountToken).equal(false);
        expect(container.securityContext).deep.equal({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      });

      it('sets only settings that the service reads, with valid values', () => {
        const variables = [...Object.keys(settings), ...container.env.map(({ name: variable }) => variable)];
        expect(KNOWN_VARIABLES).to.include.members(variables);
        expect(() => readConfig(settings)).not.to.throw();
        for (const variable of Object.keys(settings)) expect(SECRETS).not.to.include(variable);
      });

      it('reads each secret from a file that it mounts, and mounts no others', () => {
        const files = pod.volumes.flatMap(({ name: volume, secret }) => {
          const mount = container.volumeMounts.find(({ name: mounted }) => mounted === volume);
          expect(mount, volume).not.equal(undefined);
          return (secret?.items ?? []).map(({ path }) => `${mount?.mountPath}/${path}`);
        });
        expect(files).not.empty;
        expect(container.volumeMounts).to.have.length(pod.volumes.length);
        expect(container.env.map(({ value }) => value)).to.have.members(files);
        for (const { name: variable } of container.env) expect(variable).match(/_FILE$/);
      });

      it('probes routes of the service on the port that it listens on', () => {
        expect(container.ports).deep.equal([{ name: 'http', containerPort: Number(port) }]);
        const { startupProbe, livenessProbe, readinessProbe } = container;
        const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
        expect(probes.map(({ path }) => path)).deep.equal(['/server/live', '/server/live', '/server/ready']);
        for (const probe of probes) {
          expect(probe.port).equal('http');
          expect(paths[probe.path]).to.have.property('get');
        }
      });

      it('gives running requests 30 seconds after the pause of preStop', () => {
        const [program, seconds] = container.lifecycle.preStop.exec.command;
        expect(program).equal('sleep');
        expect(pod.terminationGracePeriodSeconds).to.be.at.least(Number(seconds) + 40);
      });

      it('selects its pods by their labels', () => {
        const { labels } = spec.template.metadata;
        const selectors = [
          spec.selector,
          budget.spec.selector,
          ...pod.topologySpreadConstraints.map((each) => each.labelSelector),
        ];
        for (const { matchLabels } of selectors) expect(matchLabels).deep.equal(labels);
        expect(metadata.labels).deep.equal(labels);
        expect(service.spec.selector).deep.equal(labels);
        expect(container.envFrom).deep.equal(
          primary.configMapGenerator.map(({ name: map }) => ({ configMapRef: { name: map } })),
        );
      });
    });
  }

  it('has the commands that create the Secrets in docs/kubernetes.md', () => {
    const page = read('docs/kubernetes.md').replaceAll(/\\\n\s+/g, '');
    for (const { spec } of [deployment, patched])
      for (const { secret } of spec.template.spec.volumes) {
        if (secret === undefined) continue;
        const keys = secret.items.map(({ key }) => `--from-file=${key}`);
        expect(page).to.contain(` create secret generic ${secret.secretName} ${keys.join(' ')}\n`);
      }
  });

  it('accepts the kustomizations in docs/kubernetes.md', () => {
    const documented = blocksOf('docs/kubernetes.md')
      .filter(({ content }) => content.includes('kind: Kustomization'))
      .map(({ content }) => yaml<Kustomization>(content));
    expect(documented.flatMap(({ resources }) => resources)).deep.equal([
      '../kubernetes/base',
      '../kubernetes/replicas',
    ]);
    for (const each of documented) {
      for (const path of each.resources)
        expect(existsSync(join(ROOT, 'deploy/primary', path, 'kustomization.yaml'))).equal(true);
      for (const { name } of each.images ?? []) expect(deployment.spec.template.spec.containers[0]?.image).equal(name);
      expect(each.configMapGenerator.map(({ name, behavior }) => [name, behavior])).deep.equal([
        [primary.configMapGenerator[0]?.name, 'merge'],
      ]);
      const settings = literalsOf(each);
      expect(SETTINGS).to.include.members(Object.keys(settings));
      for (const secret of SECRETS) expect(settings).not.to.have.property(secret);
      expect(() => readConfig(settings)).not.to.throw();
    }
  });

  it('sends requests of the Service to the port of the pods', () => {
    expect(service.spec.ports.map(({ targetPort }) => targetPort)).deep.equal(['http']);
  });

  it('separates the replicas by name, labels and Secret', () => {
    const [{ pairs, includeSelectors } = { pairs: {}, includeSelectors: false }] = replicas.labels;
    expect(includeSelectors).equal(true);
    expect(Object.keys(service.spec.selector)).to.include.members(Object.keys(pairs));
    expect(service.spec.selector).not.to.include(pairs);
    const secretOf = ({ spec }: Deployment) =>
      spec.template.spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []);
    const name = deployment.metadata.name;
    expect([secretOf(deployment), secretOf(patched)]).deep.equal([[name], [`${name}${replicas.nameSuffix}`]]);
    expect(replicas.patches.map(({ target }) => target)).deep.equal([{ kind: 'Deployment', name }]);
    expect(replicas.configMapGenerator.map(({ name: map, behavior }) => [map, behavior])).deep.equal([
      [primary.configMapGenerator[0]?.name, 'merge'],
    ]);
    expect(literalsOf(replicas)).to.have.property('PRIMARY_URL');
  });

  it('scrapes a route on a port of the Services that the ServiceMonitor selects', () => {
    const { spec } = manifest<{
      spec: { jobLabel: string; selector: { matchLabels: Labels }; endpoints: { port: string; path: string }[] };
    }>('monitoring/service-monitor.yaml');
    expect(service.metadata.labels).to.include(spec.selector.matchLabels).and.to.have.property(spec.jobLabel);
    // Its labels must not include those in which the replicas differ.
    expect(Object.keys(spec.selector.matchLabels)).not.to.include.members(Object.keys(replicas.labels[0]?.pairs ?? {}));
    expect(spec.endpoints.map(({ port: name }) => name)).deep.equal(service.spec.ports.map(({ name }) => name));
    for (const { path } of spec.endpoints) expect(paths[path]).to.have.property('get');
  });
});

describe('scripts/docker/create-secrets.sh', () => {
  const script = 'scripts/docker/create-secrets.sh';
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'dps-secrets-'));
    mkdirSync(join(directory, 'scripts/docker'), { recursive: true });
    copyFileSync(join(ROOT, script), join(directory, script));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const contents = () =>
    Object.fromEntries(
      readdirSync(join(directory, 'secrets')).map((name) => [
        name,
        readFileSync(join(directory, 'secrets', name), 'utf8'),
      ]),
    );

  it('writes every secret that the Compose files mount, and keeps existing ones', () => {
    execFileSync('bash', [join(directory, script)]);
    const written = contents();
    const mounted = files.flatMap(({ secrets }) => Object.values(secrets).map(({ file }) => file));
    expect(Object.keys(written).map((name) => `./secrets/${name}`)).to.have.members([...new Set(mounted)]);
    for (const text of Object.values(written)) expect(text).match(/^\S{32,}$/);
    execFileSync('bash', [join(directory, script)]);
    expect(contents()).deep.equal(written);
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

describe('the packages in package-lock.json', () => {
  interface Lock {
    packages: Record<string, { engines?: { node?: string } }>;
  }

  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
  const { packages } = JSON.parse(read('package-lock.json')) as Lock;
  const numbersOf = (version: string): number[] => version.split('.').map(Number);

  const isAtLeast = (version: number[], other: number[]): boolean => {
    const at = [0, 1, 2].find((index) => version[index] !== (other[index] ?? 0));
    return at === undefined || (version[at] ?? 0) > (other[at] ?? 0);
  };

  /** The forms of ranges that occur: `>=18`, `<21.0.0`, `^20.19.0`, `16`, `10.*` and their combinations. */
  function admits(range: string, version: number[]): boolean {
    return range.split('||').some((alternative) =>
      [...alternative.matchAll(/(>=|<|\^|)\s*v?(\d+(?:\.\d+)*)/g)].every(([, operator, text = '']) => {
        const limit = numbersOf(text);
        if (operator === '>=') return isAtLeast(version, limit);
        if (operator === '<') return !isAtLeast(version, limit);
        return version[0] === limit[0] && isAtLeast(version, limit);
      }),
    );
  }

  it('run on the oldest Node.js that package.json admits', () => {
    const oldest = numbersOf(engines.node.replace('>=', ''));
    expect(admits('^20.19.0 || >=22.12.0', oldest)).equal(true);
    expect(['>=22', '^18 || >= 20.20', '>=18 <20'].filter((range) => admits(range, oldest))).deep.equal([]);
    const others = Object.entries(packages).filter(
      ([, { engines: needs }]) => needs?.node !== undefined && !admits(needs.node, oldest),
    );
    expect(others.map(([path]) => path)).deep.equal([]);
  });
});
