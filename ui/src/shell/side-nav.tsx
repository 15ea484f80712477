import { useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useLiveCounts } from '../data/live-context.tsx';
import { API } from '../data/place.ts';
import { compactText } from '../words/count.ts';
import { STATE_ICONS } from '../words/state.ts';
import { Icon } from './icon.tsx';
import type { Place } from './places.ts';
import { usePlaces } from './use-places.ts';

export function SideNav({ onKeys }: { onKeys: () => void }) {
  const [path] = useLocation();
  const places = usePlaces();
  const nav = useRef<HTMLElement>(null);
  // On a phone the screens are one line that scrolls.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [path, places.length]);
  return (
    <nav ref={nav} className="side-nav" aria-label="Screens">
      <ul>
        {places.map((place) => {
          const here = isHere(place, path);
          return (
            <li key={place.path}>
              <Link href={place.path} aria-current={here ? 'page' : undefined} title={`g ${place.key}`}>
                <Icon name={place.icon} />
                {place.title}
                {place.path === '/jobs' && <RunningBadge />}
              </Link>
            </li>
          );
        })}
      </ul>
      <div className="side-foot">
        <a href={`${API}/docs/`}>Documentation</a>
        <a href={`${API}/openapi.json`}>API document</a>
        <button type="button" className="plain" onClick={onKeys}>
          Keys <kbd>?</kbd>
        </button>
      </div>
    </nav>
  );
}

function isHere({ path, also }: Place, current: string): boolean {
  if (path === '/' || current === path) return current === path;
  return current.startsWith(`${path}/`) || (also !== undefined && current.startsWith(also));
}

/** The number of running jobs, shown on every screen. */
function RunningBadge() {
  const counts = useLiveCounts();
  if (counts === null || counts.running === 0) return null;
  return (
    <span className="nav-badge tone-blue" title={`${counts.running} running, ${counts.pending} pending`}>
      <span aria-hidden="true">{STATE_ICONS['running']}</span> {compactText(counts.running)}
      <span className="visually-hidden"> running</span>
    </span>
  );
}
