/** Runs in the browser: finds sections of the documentation as somebody types. */

import MiniSearch from 'minisearch';

/** A section of a page, as `npm run docs` writes it. */
interface Found {
  id: string;
  title: string;
  page: string;
  text: string;
}

const MAX_FOUND = 12;

const field = document.querySelector<HTMLInputElement>('#search');
const list = document.querySelector<HTMLUListElement>('#found');

let index: Promise<MiniSearch<Found>> | undefined;

async function load(): Promise<MiniSearch<Found>> {
  const search = new MiniSearch<Found>({
    fields: ['title', 'page', 'text'],
    storeFields: ['title', 'page'],
    searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  search.addAll((await (await fetch('search.json')).json()) as Found[]);
  return search;
}

async function show(query: string): Promise<void> {
  index ??= load();
  const results = query === '' ? [] : (await index).search(query).slice(0, MAX_FOUND);
  if (field === null || list === null || field.value.trim() !== query) return;
  list.replaceChildren(...results.map(itemOf));
  list.hidden = results.length === 0;
}

function itemOf(result: Record<string, unknown>): HTMLLIElement {
  const link = document.createElement('a');
  link.href = String(result['id']);
  link.textContent = String(result['title']);
  const page = document.createElement('small');
  page.textContent = String(result['page']);
  const item = document.createElement('li');
  item.append(link, page);
  return item;
}

field?.addEventListener('input', () => void show(field.value.trim()));
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field?.focus();
  }
  if (event.key === 'Escape' && list !== null) list.hidden = true;
});
