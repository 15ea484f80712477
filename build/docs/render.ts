/** Markdown → HTML, with anchors as on GitHub, links between pages, and the sections that the search finds. */

import MarkdownIt from 'markdown-it';

export interface Found {
  /** The address, with anchor. */
  id: string;
  title: string;
  page: string;
  text: string;
}

export interface Rendered {
  title: string;
  html: string;
  headings: { level: number; anchor: string; title: string }[];
  sections: Found[];
}

/** The anchor that GitHub gives a heading: lower case, without punctuation, spaces as hyphens. */
export function anchorOf(title: string, used: Map<string, number>): string {
  const plain = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
  const count = used.get(plain) ?? 0;
  used.set(plain, count + 1);
  return count === 0 ? plain : `${plain}-${count}`;
}

/** Where a link leads on the site; `null`: a file of the repository that the site does not have. */
function placeOf(href: string, pages: ReadonlySet<string>): string | null {
  if (/^[a-z]+:|^#/i.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  const name = path.replace(/^(?:\.\/|\.\.\/)?(?:docs\/)?/, '');
  if (/^(?:\.\.\/|docs\/)?README\.md$/.test(path)) return `index.html${hash}`;
  if (/^images\/[\w.-]+$/.test(name)) return name;
  const page = name.replace(/\.md$/, '');
  return pages.has(page) ? `${page}.html${hash}` : null;
}

/** `name` is the page's name; `pages` are the names of all. */
export function render(markdown: string, name: string, pages: ReadonlySet<string>): Rendered {
  const parser = new MarkdownIt({ html: true });
  const tokens = parser.parse(markdown, {});
  const used = new Map<string, number>();
  const headings: Rendered['headings'] = [];
  const sections: Found[] = [];
  for (const [at, token] of tokens.entries()) {
    const inline = tokens[at + 1];
    if (token.type === 'heading_open' && inline !== undefined) {
      const title = (inline.children ?? []).map(({ content }) => content).join('');
      const anchor = anchorOf(title, used);
      token.attrSet('id', anchor);
      headings.push({ level: Number(token.tag.slice(1)), anchor, title });
      sections.push({ id: `${name}.html#${anchor}`, title, page: headings[0]?.title ?? title, text: '' });
    } else if (token.type === 'inline' || token.type === 'fence') {
      const section = sections.at(-1);
      if (section !== undefined && tokens[at - 1]?.type !== 'heading_open') section.text += `${textOf(token)}\n`;
    }
    if (token.type === 'inline') relink(token.children ?? [], pages);
    if (token.type === 'html_block') {
      token.content = token.content.replaceAll(/(src|srcset)="docs\//g, '$1="');
    }
  }
  // What can be scrolled must be reachable by keyboard.
  const html = parser.renderer.render(tokens, parser.options, {}).replaceAll(/<(pre|table)>/g, '<$1 tabindex="0">');
  return { title: headings[0]?.title ?? name, html, headings, sections };
}

type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number];

function textOf({ type, content, children }: Token): string {
  return type === 'fence' ? content : (children ?? []).map((child) => child.content).join(' ');
}

/** Links to pages of the site; a file that only the repository has is named without a link. */
function relink(tokens: readonly Token[], pages: ReadonlySet<string>): void {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.type === 'image') token.attrSet('src', placeOf(String(token.attrGet('src') ?? ''), pages) ?? '');
    if (token.type === 'link_open') {
      open.push(token);
      const place = placeOf(String(token.attrGet('href') ?? ''), pages);
      if (place === null) token.tag = 'span';
      token.attrs = place === null ? [['class', 'file']] : [['href', place]];
    }
    if (token.type === 'link_close') token.tag = open.pop()?.tag ?? 'a';
  }
}
