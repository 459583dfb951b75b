import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { load } from 'js-yaml';
import { json } from '../support/client.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

const read = (path: string): string => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  annotations: Record<string, string>;
}
interface Dashboard {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
  templating: { list: { definition?: string }[] };
}

const rules = (load(read('prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules: each }) => each,
);
const dashboard = JSON.parse(read('grafana/data-platform-service.json')) as Dashboard;

/** An expression, and texts whose `{{label}}` it must have. */
const USES = [
  ...rules.map(({ alert, expr, annotations }) => ({ name: alert, expr, texts: Object.values(annotations) })),
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ name: title, expr, texts: [legendFormat] })),
  ),
  ...dashboard.templating.list.flatMap(({ definition }) =>
    definition === undefined ? [] : [{ name: 'job', expr: definition, texts: [] }],
  ),
];

/** Labels that Prometheus adds to every series. */
const ITS_OWN = ['job', 'instance'];

describe('the dashboard and the alert rules', () => {
  const { client } = withService({ settings: { VERIFY_EVERY: '1s' } });
  /** The labels of each metric in a scrape. */
  const scraped = new Map<string, Set<string>>();

  before(async () => {
    await client('/collections', json({ collection: 'scraped', schema: {} }));
    await client('/collections', json({ collection: 'scraped', schema: {} }));
    let text = '';
    await until('the first scheduled comparison ended', async () => {
      ({ text } = await client('/metrics'));
      return text.includes('dps_comparison_faults{');
    });
    for (const line of text.split('\n')) {
      const [, name, labels = ''] = /^([a-z0-9_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      if (name === undefined) continue;
      const known = scraped.get(name) ?? new Set<string>();
      for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
      scraped.set(name, known);
    }
  });

  const metricsIn = (expr: string): string[] => expr.match(/\b(?:dps|process|nodejs)_[a-z0-9_]+/g) ?? [];

  it('use only metrics of a running service', () => {
    expect(rules.length).to.be.greaterThan(5);
    expect(USES.length).to.be.greaterThan(20);
    for (const { name, expr } of USES) {
      expect(metricsIn(expr), name).not.to.deep.equal([]);
      for (const metric of metricsIn(expr)) expect([...scraped.keys()], name).to.include(metric);
    }
  });

  it('use only existing labels, in selectors, groups and texts', () => {
    for (const { name, expr, texts } of USES) {
      const has = new Set([...ITS_OWN, ...metricsIn(expr).flatMap((metric) => [...(scraped.get(metric) ?? [])])]);
      const selected = [...expr.matchAll(/(\w+)\s*(?:=~|!~|!=|=(?!=))\s*"/g)].map(([, label]) => label);
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
      const shown = texts.flatMap((text) =>
        [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label]) => label),
      );
      for (const label of [...selected, ...grouped, ...shown]) expect([...has], `${name}: ${expr}`).to.include(label);
      // Labels removed by grouping cannot be shown.
      if (grouped.length > 0) for (const label of shown) expect(grouped, `${name}: ${expr}`).to.include(label);
    }
  });

  it('cover all of the service’s own metrics', () => {
    const used = new Set(USES.flatMap(({ expr }) => metricsIn(expr)).map(family));
    const own = [...scraped.keys()].filter((name) => name.startsWith('dps_')).map(family);
    expect([...new Set(own)].filter((name) => !used.has(name))).to.deep.equal([
      'dps_rendered_answers',
      'dps_renderings_total',
    ]);
  });
});

/** The name of a histogram, for one of its series. */
const family = (name: string): string => name.replace(/_(?:bucket|sum|count)$/, '');
