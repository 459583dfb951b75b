/**
 * The Helm chart creates the objects of the Kustomize manifests. The tests render it with `helm`, or without Helm with
 * its template engine (`test/support/helm`), which needs Go and Sprig: on Debian `golang-go`,
 * `golang-github-masterminds-sprig-dev` and `golang-gopkg-yaml.v3-dev`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { load, loadAll } from 'js-yaml';
import { SECRETS, SETTINGS, readConfig } from '../src/config.js';
import { ROOT, blocksOf } from './support/documents.js';
import { validateManifest } from './support/kubernetes.js';

const CHART = join(ROOT, 'deploy/kubernetes/helm/data-platform-service');
/** The Go packages of Debian. */
const GO_PATH = '/usr/share/gocode';

type Document = Record<string, unknown>;
type Labels = Record<string, string>;

interface Pod {
  containers: {
    image: string;
    imagePullPolicy?: string;
    env: { name: string }[];
    envFrom: { configMapRef: { name: string } }[];
  }[];
  topologySpreadConstraints: { labelSelector: { matchLabels: Labels } }[];
  volumes: { secret?: { secretName: string; items: { key: string }[] } }[];
}

interface Workload {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Labels };
  data: Record<string, string>;
  spec: {
    selector: { matchLabels: Labels };
    template: { metadata: { labels: Labels; annotations: Labels }; spec: Pod };
  } & Document;
}

const read = (file: string): string => readFileSync(file, 'utf8');
const manifest = <T>(file: string): T => load(read(join(ROOT, 'deploy/kubernetes/base', file))) as T;

/** Renders the chart with the values. Throws the message of the renderer. */
type Renderer = (values: Document) => Workload[];

/** Returns the arguments of the program that renders the chart with a file of values. Undefined if there is none. */
function findProgram(folder: string): ((values: string) => [string, string[]]) | undefined {
  if (spawnSync('helm', ['version']).status === 0)
    return (values) => ['helm', ['template', 'dps', CHART, '--namespace', 'platform', '--values', values]];
  if (!existsSync(join(GO_PATH, 'src/github.com/Masterminds/sprig')) || spawnSync('go', ['version']).status !== 0)
    return undefined;
  const program = join(folder, 'render');
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: GO_PATH, GOCACHE: join(folder, 'cache') };
  execFileSync('go', ['build', '-o', program, join(ROOT, 'test/support/helm/render.go')], { env });
  return (values) => [program, [CHART, values]];
}

/** Removes what the chart and Kustomize write differently: image, names, labels, and the order of the secrets. */
function comparable(given: Pod): Pod {
  const pod = structuredClone(given);
  for (const container of pod.containers) {
    Object.assign(container, { image: '', imagePullPolicy: '', envFrom: [] });
    container.env.sort((a, b) => a.name.localeCompare(b.name));
  }
  for (const each of pod.topologySpreadConstraints) each.labelSelector.matchLabels = {};
  for (const { secret } of pod.volumes) {
    if (secret === undefined) continue;
    secret.secretName = '';
    secret.items.sort((a, b) => a.key.localeCompare(b.key));
  }
  return pod;
}

/** Returns the specification without the pods and their labels. The type of a Service is the default of Kubernetes. */
const restOf = ({ spec }: Workload): Document =>
  Object.fromEntries(Object.entries(spec).filter(([name]) => !['template', 'selector', 'type'].includes(name)));

describe('the Helm chart', function () {
  this.timeout(240_000);
  let folder: string;
  let render: Renderer;

  before(function () {
    folder = mkdtempSync(join(tmpdir(), 'dps-chart-'));
    const program = findProgram(folder);
    if (program === undefined) {
      console.warn('The Helm chart is not tested: there is neither helm nor Go with Sprig.');
      this.skip();
    }
    render = (values) => {
      const file = join(folder, 'values.yaml');
      writeFileSync(file, JSON.stringify(values));
      const { status, stdout, stderr } = spawnSync(...program(file), { encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      const objects = (loadAll(stdout) as (Workload | undefined)[]).filter((each) => each?.kind !== undefined);
      for (const object of objects as Workload[]) validateManifest(object);
      return objects as Workload[];
    };
  });
  after(() => rmSync(folder, { recursive: true }));

  const READ = { readReplicas: { enabled: true, primaryUrl: 'https://dps.example.com' } };
  const named = (objects: readonly Workload[], kind: string, name = 'dps'): Workload => {
    const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
    if (found === undefined) throw new Error(`There is no ${kind} ${name}`);
    return found;
  };
  const podOf = (objects: readonly Workload[], name?: string): Pod =>
    named(objects, 'Deployment', name).spec.template.spec;

  it('creates the same Deployment, Service and PodDisruptionBudget as Kustomize', () => {
    const objects = render({});
    expect(objects.map(({ kind }) => kind)).to.have.members([
      'ConfigMap',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ]);
    const expected = manifest<Workload>('deployment.yaml');
    expect(comparable(podOf(objects))).to.deep.equal(comparable(expected.spec.template.spec));
    expect(restOf(named(objects, 'Deployment'))).to.deep.equal(restOf(expected));
    for (const [kind, file] of [
      ['Service', 'service.yaml'],
      ['PodDisruptionBudget', 'pod-disruption-budget.yaml'],
    ] as const)
      expect(restOf(named(objects, kind)), kind).to.deep.equal(restOf(manifest(file)));
  });

  it('has the settings of Kustomize, and passes them to the pods', () => {
    const objects = render({});
    const { configMapGenerator } = manifest<{ configMapGenerator: { literals: string[] }[] }>('kustomization.yaml');
    const { data } = named(objects, 'ConfigMap');
    expect(Object.entries(data).map(([name, value]) => `${name}=${value}`)).to.have.members(
      configMapGenerator[0]?.literals ?? [],
    );
    expect(SETTINGS).to.include.members(Object.keys(data));
    expect(() => readConfig(data)).not.to.throw();
    expect(podOf(objects).containers[0]?.envFrom).to.deep.equal([{ configMapRef: { name: 'dps' } }]);
  });

  it('selects the pods of each component by labels that do not change with a release', () => {
    const objects = render(READ);
    const selectors = ['dps', 'dps-replicas'].map((name) => {
      const { spec } = named(objects, 'Deployment', name);
      const { matchLabels } = spec.selector;
      expect(spec.template.metadata.labels).to.include(matchLabels);
      expect(named(objects, 'Service', name).spec.selector).to.deep.equal(matchLabels);
      expect(named(objects, 'PodDisruptionBudget', name).spec.selector).to.deep.equal({ matchLabels });
      const [spread] = podOf(objects, name).topologySpreadConstraints;
      expect(spread?.labelSelector).to.deep.equal({ matchLabels });
      expect(Object.values(matchLabels).join(' ')).not.to.match(/\d/);
      return JSON.stringify(matchLabels);
    });
    expect(new Set(selectors).size).to.equal(2);
  });

  it('gives replicas their own Secret without the admin, and the address of the primary', () => {
    const objects = render({ ...READ, settings: { LOG_LEVEL: 'debug' } });
    const pod = podOf(objects, 'dps-replicas');
    expect(pod.containers[0]?.env.map(({ name }) => name)).to.deep.equal(['DATABASE_URL_FILE']);
    expect(pod.volumes[0]?.secret).to.deep.include({
      secretName: 'dps-replicas',
      items: [{ key: 'database_url', path: 'database_url' }],
    });
    const { data } = named(objects, 'ConfigMap', 'dps-replicas');
    expect(data).to.include({ PRIMARY_URL: 'https://dps.example.com', LOG_LEVEL: 'debug', TRUST_PROXY: '0' });
    expect(() => readConfig(data)).not.to.throw();
    expect(() => render({ readReplicas: { enabled: true } })).to.throw('readReplicas.primaryUrl is missing');
  });

  it('replaces the pods only after a change to a setting', () => {
    const checksum = (values: Document) =>
      named(render(values), 'Deployment').spec.template.metadata.annotations['checksum/settings'];
    expect(checksum({ replicas: 3 })).to.equal(checksum({}));
    expect(checksum({ settings: { LOG_LEVEL: 'debug' } })).not.to.equal(checksum({}));
  });

  it('selects the image by digest, by tag, or by the version of the application', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const image = (values: Document) =>
      podOf(render({ image: { repository: 'registry.example.com/dps', ...values } })).containers[0]?.image;
    const { version } = JSON.parse(read(join(ROOT, 'package.json'))) as { version: string };
    expect(image({})).to.equal(`registry.example.com/dps:${version}`);
    expect(image({ tag: 'edge' })).to.equal('registry.example.com/dps:edge');
    expect(image({ tag: 'edge', digest })).to.equal(`registry.example.com/dps@${digest}`);
  });

  it('mounts further secrets as files, each once', () => {
    const pod = podOf(
      render({ secret: { name: 'mine', files: { TOKEN_SECRET: 'admin_token', OIDC_CLIENT_SECRET: 'oidc' } } }),
    );
    expect(pod.volumes[0]?.secret?.secretName).to.equal('mine');
    const keys = pod.volumes[0]?.secret?.items.map(({ key }) => key);
    expect(keys).to.deep.equal(['admin_password', 'admin_token', 'database_url', 'oidc']);
    expect(pod.containers[0]?.env).to.deep.include({
      name: 'OIDC_CLIENT_SECRET_FILE',
      value: '/run/secrets/dps/oidc',
    });
  });

  it('scrapes the Services of both components', () => {
    const objects = render({ ...READ, serviceMonitor: { enabled: true } });
    const { spec } = named(objects, 'ServiceMonitor');
    for (const name of ['dps', 'dps-replicas'])
      expect(named(objects, 'Service', name).metadata.labels).to.include(spec.selector.matchLabels);
    expect(spec['endpoints']).to.deep.equal([
      { port: 'http', path: '/metrics', authorization: { credentials: { name: 'dps-metrics', key: 'token' } } },
    ]);
  });

  it('passes placement and annotations to the pods', () => {
    const placement = {
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
    };
    const pullSecrets = [{ name: 'registry' }];
    const objects = render({ ...placement, image: { pullSecrets }, podAnnotations: { team: 'data' } });
    expect(podOf(objects)).to.deep.include({ ...placement, imagePullSecrets: pullSecrets });
    expect(named(objects, 'Deployment').spec.template.metadata.annotations).to.include({ team: 'data' });
  });

  it('keeps the names of its objects short enough for labels', () => {
    for (const { metadata } of render({ ...READ, fullnameOverride: 'n'.repeat(80) }))
      expect(metadata.name.length).to.be.at.most(63);
  });
});

describe('the values of the Helm chart', () => {
  const schema = JSON.parse(read(join(CHART, 'values.schema.json'))) as Document;
  const values = load(read(join(CHART, 'values.yaml'))) as Document;
  const isValid = new Ajv({ strict: false }).compile(schema);

  it('match their schema, which names all of them', () => {
    expect(isValid(values), JSON.stringify(isValid.errors)).to.equal(true);
    const { global: _, ...named } = schema['properties'] as Document;
    expect(Object.keys(named)).to.have.members(Object.keys(values));
  });

  it('are valid as docs/kubernetes.md shows them', () => {
    const block = blocksOf('docs/kubernetes.md').find(({ content }) => content.startsWith('image:'));
    const documented = load((block?.content ?? '').replace('sha256:…', `sha256:${'a'.repeat(64)}`)) as Document;
    expect(isValid(documented), JSON.stringify(isValid.errors)).to.equal(true);
    expect(SETTINGS).to.include.members(Object.keys(documented['settings'] as Document));
  });

  for (const [title, wrong] of [
    ['a misspelled value', { replica: 3 }],
    ['a setting that is a list', { settings: { TRUST_PROXY: [1] } }],
    ['a digest without its algorithm', { image: { repository: 'dps', digest: 'aaaa' } }],
    ...SECRETS.map((name) => [`the secret ${name} as a setting`, { settings: { [name]: 'x' } }] as const),
  ] as const)
    it(`are rejected with ${title}`, () => {
      expect(isValid(wrong)).to.equal(false);
    });

  it('have the version of the package', () => {
    const { version } = JSON.parse(read(join(ROOT, 'package.json'))) as { version: string };
    expect(load(read(join(CHART, 'Chart.yaml')))).to.include({ version, appVersion: version });
  });
});
