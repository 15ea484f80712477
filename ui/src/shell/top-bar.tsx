import { useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { PAGE } from '../data/place.ts';
import { logOut } from '../data/session.ts';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../data/use-may.ts';
import { May } from '../parts/may.tsx';
import { loginText } from '../words/visible-text.ts';
import { Icon } from './icon.tsx';
import { LiveChip } from './live-chip.tsx';
import { currentTheme, nextTheme, onTheme } from './theme.ts';

export interface TopBarProps {
  onSearch: () => void;
  onNewJob: () => void;
  onLogOut: () => void;
}

export function TopBar({ onSearch, onNewJob, onLogOut }: TopBarProps) {
  const theme = useSyncExternalStore(onTheme, currentTheme);
  const session = useSession();
  const leave = useAction({ run: () => logOut(), done: () => 'Logged out', after: onLogOut });
  return (
    <header className="top-bar">
      <Link href="/" className="brand">
        <img src={`${PAGE}/favicon.svg`} alt="" width="22" height="22" />
        <span>Workron</span>
      </Link>
      <button type="button" className="search-button" onClick={onSearch}>
        <Icon name="search" />
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
        {session?.token_needed && (
          <button
            type="button"
            className="small"
            title={loginText(session.name)}
            onClick={() => leave.run()}
            disabled={leave.running}
          >
            Log out
          </button>
        )}
        <May scope="submit">
          <button type="button" className="primary small new-job-button" onClick={onNewJob}>
            <span aria-hidden="true">+</span> New job
          </button>
        </May>
      </div>
    </header>
  );
}
