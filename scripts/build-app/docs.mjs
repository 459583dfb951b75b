/** `import headings from 'docs:headings'`: titles and headings of the guides in docs/, for the search. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import GithubSlugger from 'github-slugger';

const MODULE = 'docs:headings';

/** The app has its own page for the API reference. */
const SHOWN_ELSEWHERE = 'api/';

export function docsHeadings(root) {
  return {
    name: 'docs-headings',
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : null),
    load: (id) => (id === `\0${MODULE}` ? `export default ${JSON.stringify(headingsOf(root))};` : null),
  };
}

function headingsOf(root) {
  const pages = readdirSync(join(root, 'docs'), { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length).replaceAll('\\', '/'))
    .filter((name) => !name.startsWith(SHOWN_ELSEWHERE));
  const order = orderOf(root);
  const place = (page) => {
    const [guide] = page.split('/');
    return order.includes(guide) ? order.indexOf(guide) : order.length;
  };
  return pages
    .sort((one, other) => place(one) - place(other) || (one < other ? -1 : 1))
    .flatMap((page) => headingsIn(page, readFileSync(join(root, 'docs', `${page}.md`), 'utf8')));
}

/** Listed in the order of the table in the README. */
function orderOf(root) {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const table = readme.slice(readme.indexOf('## Documentation'));
  return [...table.matchAll(/\(docs\/([\w-]+)\.md/g)].map(([, page]) => page);
}

function headingsIn(page, text) {
  const slugger = new GithubSlugger();
  const lines = text.replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '').matchAll(/^(#{1,4}) (.+)$/gm);
  const headings = [...lines].map(([, level, line]) => {
    const plain = line.replaceAll(/[`*_]|\[([^\]]*)\]\([^)]*\)/g, '$1').trim();
    return { level: level.length, text: plain, anchor: slugger.slug(plain) };
  });
  const title = headings.find(({ level }) => level === 1)?.text ?? page;
  // Only the titles of pages in subfolders.
  const told = page.includes('/') ? headings.filter(({ level }) => level === 1) : headings;
  return told.map((each) => ({ page, title, text: each.text, anchor: each.level === 1 ? '' : each.anchor }));
}
