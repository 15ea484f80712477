/** `npm run docs`: writes the documentation as static pages into `dist-docs`, or into the folder that is given. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { HANDLERS } from '../../src/http/handlers.ts';
import { apiDocument } from '../../src/http/openapi.ts';
import { version } from '../../src/node/version.ts';
import { apiPage } from './api-page.ts';
import { API, FRONT, SECTIONS } from './pages.ts';
import { type Found, type Rendered, render } from './render.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DOCS = join(ROOT, 'docs');
/** What runs in the browser. */
const BROWSER = join(ROOT, 'ui', 'docs');
const MAX_LISTED_LEVEL = 2;

function sourceOf(name: string): string {
  if (name === FRONT) return readFileSync(join(ROOT, 'README.md'), 'utf8');
  if (name === API) return apiPage(apiDocument(HANDLERS, version));
  return readFileSync(join(DOCS, `${name}.md`), 'utf8');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** All pages of the menu, each with its own headings below it. */
function menuOf(current: string, titles: ReadonlyMap<string, Rendered>): string {
  const item = (name: string) => {
    const { title, headings } = titles.get(name) as Rendered;
    const link = `<a href="${name}.html"${name === current ? ' aria-current="page"' : ''}>${escape(title)}</a>`;
    const below = headings.filter(({ level }) => level === MAX_LISTED_LEVEL);
    if (name !== current || below.length === 0) return `<li>${link}</li>`;
    const inner = below.map(({ anchor, title: text }) => `<li><a href="#${anchor}">${escape(text)}</a></li>`);
    return `<li>${link}<ul>${inner.join('')}</ul></li>`;
  };
  return sections.map(({ title, pages }) => `<h2>${title}</h2><ul>${pages.map(item).join('')}</ul>`).join('');
}

function pageOf(name: string, all: ReadonlyMap<string, Rendered>): string {
  const { title, html } = all.get(name) as Rendered;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Workron</title>
<link rel="stylesheet" href="docs.css">
<script type="module" src="docs.js"></script>
<a class="skip" href="#content">Skip to the text</a>
<header>
  <a class="home" href="index.html">Workron</a>
  <search><input id="search" type="search" placeholder="Search (/)" aria-label="Search the documentation" autocomplete="off">
  <ul id="found" hidden></ul></search>
</header>
<nav aria-label="Documentation">${menuOf(name, all)}</nav>
<main id="content">
${html}
</main>
</html>
`;
}

async function searchScript(): Promise<string> {
  const bundle = await rolldown({
    input: join(BROWSER, 'search.ts'),
    platform: 'browser',
    tsconfig: false,
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return output[0].code;
}

const listed = SECTIONS.flatMap(({ pages }) => pages);
// The menu says what its README says.
const written = readdirSync(DOCS).filter((file) => file.endsWith('.md') && file !== 'README.md');
const unlisted = written.map((file) => file.slice(0, -'.md'.length)).filter((name) => !listed.includes(name));
const sections = unlisted.length === 0 ? SECTIONS : [...SECTIONS, { title: 'More', pages: unlisted }];
const names = sections.flatMap(({ pages }) => pages);

const folder = resolve(process.argv[2] ?? join(ROOT, 'dist-docs'));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const pages = new Set(names);
const rendered = new Map(names.map((name) => [name, render(sourceOf(name), name, pages)]));
const found: Found[] = [...rendered.values()].flatMap(({ sections }) => sections);
for (const name of names) writeFileSync(join(folder, `${name}.html`), pageOf(name, rendered));
writeFileSync(join(folder, 'search.json'), JSON.stringify(found));
writeFileSync(join(folder, 'docs.js'), await searchScript());
cpSync(join(BROWSER, 'docs.css'), join(folder, 'docs.css'));
if (existsSync(join(DOCS, 'images'))) cpSync(join(DOCS, 'images'), join(folder, 'images'), { recursive: true });
