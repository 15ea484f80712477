import { useState } from 'react';

/** Copies a text, even if the page is not served over HTTPS and the clipboard API is missing. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    try {
      return await navigator.clipboard.writeText(text);
    } catch {
      // The clipboard API is not allowed: use a selection instead.
    }
  }
  const area = document.createElement('textarea');
  area.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <button
      type="button"
      className="small"
      onClick={() => {
        void copyText(text).then(() => {
          setCopied(true);
          setTimeout(() => setCopied(false), 1_500);
        });
      }}
    >
      {copied ? '✓ Copied' : label}
    </button>
  );
}

/** A line for a terminal, with a button that copies it. */
export function CopyLine({ label, text }: { label: string; text: string }) {
  return (
    <div className="copy-line">
      <span className="copy-label">{label}</span>
      <div className="copy-row">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll */}
        <pre tabIndex={0} aria-label={label}>
          {text}
        </pre>
        <CopyButton text={text} label="Copy" />
      </div>
    </div>
  );
}
