/** Measurements that the browser takes with its own clock. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { median } from '../measure.js';

type NewContext = () => Promise<BrowserContext>;

/** Reports when the first line of the tree was painted: in the frame after it was added to the page. */
const WATCH = `
  window.treePainted = new Promise((resolve) => {
    const look = () => {
      if (document.querySelector('[role=treeitem]') === null) return requestAnimationFrame(look);
      requestAnimationFrame(() => resolve(performance.now()));
    };
    requestAnimationFrame(look);
  });`;

/** Median of the rounds, in milliseconds from the start of the navigation. */
export async function firstPaint(newContext: NewContext, rounds: number): Promise<{ cold: number; warm: number }> {
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const context = await newContext();
    try {
      const page = await context.newPage();
      await page.addInitScript(WATCH);
      for (const times of [cold, warm]) {
        await page.goto('/app/');
        times.push(await page.evaluate<number>('window.treePainted'));
      }
    } finally {
      await context.close();
    }
  }
  return { cold: median(cold), warm: median(warm) };
}

const FRAMES = `
  window.frames_ = [];
  const tick = (time) => { window.frames_.push(time); requestAnimationFrame(tick); };
  requestAnimationFrame(tick);`;

/** How long the mouse moves, in milliseconds. */
const PANNED = 4_000;

interface Panning {
  /** Visible tables. */
  drawn: number;
  perSecond: number;
  /** The longest frame, in milliseconds. */
  longest: number;
}

export async function measurePanning(newContext: NewContext): Promise<Panning> {
  const context = await newContext();
  try {
    const page = await context.newPage();
    await page.goto('/app/?depth=keys');
    await page.locator('.react-flow__node').first().waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.waitForTimeout(1_500);
    const drawn = await page.locator('.react-flow__node').count();
    await page.evaluate(FRAMES);
    await drag(page);
    const times = await page.evaluate<number[]>('window.frames_');
    const lengths = times.slice(1).map((time, index) => time - (times[index] as number));
    const took = (times.at(-1) ?? 0) - (times[0] ?? 0);
    return { drawn, perSecond: (lengths.length / took) * 1000, longest: Math.max(...lengths) };
  } finally {
    await context.close();
  }
}

/** Moves the mouse in circles over the background between the tables. */
async function drag(page: Page): Promise<void> {
  const pane = await page.locator('.react-flow__pane').boundingBox();
  if (pane === null) throw new Error('there is no drawing');
  const [x, y] = [pane.x + pane.width / 2, pane.y + pane.height - 12];
  await page.mouse.move(x, y);
  await page.mouse.down();
  const started = performance.now();
  for (let step = 0; performance.now() - started < PANNED; step++) {
    await page.mouse.move(x + 300 * Math.sin(step / 12), y - 150 + 150 * Math.cos(step / 12));
  }
  await page.mouse.up();
}

/** Steps per second. Each step waits until the page shows its point in time. */
export async function measureStepping(newContext: NewContext, steps: number): Promise<number> {
  const context = await newContext();
  try {
    const page = await context.newPage();
    await page.goto('/app/?at=20');
    const next = page.getByRole('button', { name: 'Next change' });
    await next.waitFor({ timeout: 60_000 });
    await page.locator('.react-flow__node').first().waitFor({ timeout: 60_000 });
    await page.waitForTimeout(1_000);
    const took = await page.evaluate<number>(`(${STEP})(${steps})`);
    return (steps / took) * 1000;
  } finally {
    await context.close();
  }
}

/** Runs in the page itself, so that no message to the browser adds latency. */
const STEP = `async (steps) => {
  const shown = () => document.querySelector('[aria-label="Position in the event log"]').getAttribute('aria-valuetext');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const started = performance.now();
  for (let step = 0; step < steps; step++) {
    const before = shown();
    document.querySelector('button[aria-label="Next change"]').click();
    while (shown() === before) {
      if (performance.now() - started > 120_000) throw new Error('the replay stopped at ' + before);
      await frame();
    }
  }
  return performance.now() - started;
}`;

/** Milliseconds from the click until the page reports a valid hash chain. */
export async function verifying(newContext: NewContext): Promise<number> {
  const context = await newContext();
  try {
    const page = await context.newPage();
    await page.goto('/app/verification');
    const check = page.getByRole('button', { name: /^Check [\d,]+ events$/ });
    await check.waitFor();
    const started = performance.now();
    await check.click();
    await page.getByText('The hash chain is valid').waitFor({ timeout: 300_000 });
    return performance.now() - started;
  } finally {
    await context.close();
  }
}

/** The first visit of a client that has to sign in. */
export async function firstLoad(chromium: Browser, url: string): Promise<{ files: number; bytes: number }> {
  const context = await chromium.newContext({ baseURL: url });
  try {
    const page = await context.newPage();
    await page.goto('/app/');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    const sizes = await page.evaluate<number[]>(
      '[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map((each) => each.encodedBodySize)',
    );
    return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  } finally {
    await context.close();
  }
}
