import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { PAGE } from '../data/place.ts';
import { logOut, readSession } from '../data/session.ts';
import { useAction } from '../data/use-action.ts';
import { LiveChip } from './live-chip.tsx';
import { currentTheme, nextTheme, onTheme } from './theme.ts';

export interface TopBarProps {
  onSearch: () => void;
  onNewJob: () => void;
  onLogOut: () => void;
}

export function TopBar({ onSearch, onNewJob, onLogOut }: TopBarProps) {
  const theme = useSyncExternalStore(onTheme, currentTheme);
  const session = useQuery({ queryKey: ['session'], queryFn: readSession, staleTime: Number.POSITIVE_INFINITY });
  const leave = useAction({ run: () => logOut(), done: () => 'Logged out', after: onLogOut });
  return (
    <header className="top-bar">
      <Link href="/" className="brand">
        <img src={`${PAGE}/favicon.svg`} alt="" width="22" height="22" />
        <span>Workron</span>
      </Link>
      <button type="button" className="search-button" onClick={onSearch}>
        <span className="search-label">Search or go to…</span> <kbd>Ctrl K</kbd>
      </button>
      <div className="top-actions">
        <LiveChip />
        <button
          type="button"
          className="plain icon-button"
          aria-label={theme === 'dark' ? 'Light theme' : 'Dark theme'}
          title="Theme (t)"
          onClick={nextTheme}
        >
          {theme === 'dark' ? '☀' : '☾'}
        </button>
        {session.data?.token_needed && (
          <button type="button" className="small" onClick={() => leave.run()} disabled={leave.running}>
            Log out
          </button>
        )}
        <button type="button" className="primary small new-job-button" onClick={onNewJob}>
          <span aria-hidden="true">+</span> New job
        </button>
      </div>
    </header>
  );
}
