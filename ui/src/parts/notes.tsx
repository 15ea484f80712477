import type { ReactNode } from 'react';
import { messageOf } from '../words/message-of.ts';

/** An error of a fetch, with a button that tries again. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div className="note note-bad" role="alert">
      <p>{messageOf(error)}</p>
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** An empty state with a suggestion. With `alone` it is the heading of the screen. */
export function Empty({ title, children, alone = false }: { title: string; children?: ReactNode; alone?: boolean }) {
  return (
    <div className="empty">
      {alone ? <h1 className="empty-title">{title}</h1> : <p className="empty-title">{title}</p>}
      {children}
    </div>
  );
}

/** The outline of what is being fetched. The text appears only while the server is away. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div className="loading" role="status">
      <span className="visually-hidden loading-word">Loading</span>
      <p className="loading-away">The server does not answer. This page continues when it is back.</p>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are equal
        <span key={row} className="skeleton" aria-hidden="true" />
      ))}
    </div>
  );
}
