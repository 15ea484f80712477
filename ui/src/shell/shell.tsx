import { useState } from 'react';
import { useLocation } from 'wouter';
import { useLiveStream } from '../data/live-context.tsx';
import { Boundary } from '../parts/boundary.tsx';
import { type Keys, useKeys } from '../parts/keyboard.ts';
import { KeySheet } from './key-sheet.tsx';
import { NewJob } from './new-job.tsx';
import { Palette } from './palette.tsx';
import { PLACES } from './places.ts';
import { Screens } from './screens.tsx';
import { SideNav } from './side-nav.tsx';
import { nextTheme } from './theme.ts';
import { TopBar } from './top-bar.tsx';

type Opened = 'palette' | 'keys' | 'new-job' | null;

/** The frame around every screen: the menu, the top bar, and the dialogs that keys open. */
export function Shell({ onLogOut }: { onLogOut: () => void }) {
  const [opened, setOpened] = useState<Opened>(null);
  const [path, go] = useLocation();
  const stream = useLiveStream();
  const close = (): void => setOpened(null);
  const jumps = Object.fromEntries(PLACES.map(({ key, path }) => [`g ${key}`, () => go(path)]));
  const keys: Keys = {
    ...jumps,
    'ctrl k': () => setOpened('palette'),
    '?': () => setOpened('keys'),
    n: () => setOpened('new-job'),
    p: () => stream.setPaused(stream.state !== 'paused'),
    t: nextTheme,
    '/': () => focusSearch(() => setOpened('palette')),
  };
  useKeys(keys);
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <TopBar onSearch={() => setOpened('palette')} onNewJob={() => setOpened('new-job')} onLogOut={onLogOut} />
      <SideNav onKeys={() => setOpened('keys')} />
      <main id="main" className="main" tabIndex={-1}>
        <Boundary name={path}>
          <Screens onNewJob={() => setOpened('new-job')} />
        </Boundary>
      </main>
      {opened === 'palette' && <Palette onClose={close} onNewJob={() => setOpened('new-job')} />}
      {opened === 'keys' && <KeySheet onClose={close} />}
      {opened === 'new-job' && <NewJob onClose={close} />}
    </div>
  );
}

/** Focuses the search field of the screen, if it has one. */
function focusSearch(otherwise: () => void): void {
  const search = document.querySelector<HTMLElement>('[data-search]');
  if (search === null) otherwise();
  else search.focus();
}
