/** Automatic checks of accessibility. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const resolveFrom = createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright'));
const AXE = readFileSync(resolveFrom.resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** Asserts that axe-core finds no violation of WCAG A and AA, and that everything fits the window. */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  // One document shows many screens: axe-core is added to it once.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(AXE);
  const options = JSON.stringify({ runOnly: { type: 'tag', values: TAGS }, resultTypes: ['violations'] });
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) })))`,
  );
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`,
  );
  assert.deepEqual(found, [], name);
  await assertFits(page, name);
}

/** Asserts that nothing is wider than the window and that no text is cut off. */
export async function assertFits(page: Page, name: string): Promise<void> {
  const overflow = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  assert.ok(overflow <= 0, `${name} is ${overflow}px wider than the window`);
  assert.deepEqual(await page.evaluate<string[]>(CUT_OFF), [], `${name}: cut off`);
}

/**
 * Returns text that is cut off by its box. Text that can be scrolled, that ends in an ellipsis (its whole text is shown on
 * hover or on another screen), or that is meant for screen readers only does not count.
 */
const CUT_OFF = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (text.data.trim() === '' || !text.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    // Elements beyond the left edge come into view with the focus.
    if (box.width === 0 || box.right <= 0) continue;
    for (let around = text.parentElement; around !== null; around = around.parentElement) {
      const style = getComputedStyle(around);
      if (style.clipPath !== 'none' || style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none') break;
      if (['auto', 'scroll'].includes(style.overflowX)) break;
      const inner = around.getBoundingClientRect();
      const hides = around === document.documentElement || style.overflowX !== 'visible';
      if (hides && (box.right > inner.right + 1 || box.left < inner.left - 1)) {
        found.push(text.data.trim().slice(0, 60) + ' in ' + around.tagName + '.' + around.className);
        break;
      }
      if (style.position === 'fixed') break;
    }
  }
  return found;
})()`;
