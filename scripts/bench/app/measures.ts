/** What is measured in the browser, by its own clock. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { median } from '../measure.js';

type NewContext = () => Promise<BrowserContext>;

/** Says when the first line of the tree was painted: the frame after it stood in the page. */
const WATCH = `
  window.treePainted = new Promise((resolve) => {
    const look = () => {
      if (document.querySelector('[role=treeitem]') === null) return requestAnimationFrame(look);
      requestAnimationFrame(() => resolve(performance.now()));
    };
    requestAnimationFrame(look);
  });`;

/** Milliseconds from the beginning of the navigation, the median of the rounds. */
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

/** Milliseconds that the mouse is moved. */
const PANNED = 4_000;

interface Panning {
  /** Tables in sight. */
  drawn: number;
  perSecond: number;
  /** Milliseconds of the longest frame. */
  longest: number;
}

export async function panning(newContext: NewContext): Promise<Panning> {
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

/** In circles, over the ground between the tables. */
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

/** Steps a second, each until its moment is shown. */
export async function stepping(newContext: NewContext, steps: number): Promise<number> {
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

/** In the page itself, so that no message from outside is waited for. */
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

/** Milliseconds from the click until the page says that the chain holds. */
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

/** Of who comes for the first time, and is asked to sign in. */
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
