import { useState } from 'react';
import { useLocation } from 'wouter';
import { useLiveStream } from '../data/live-context.tsx';
import { useMay } from '../data/use-may.ts';
import { Boundary } from '../parts/boundary.tsx';
import { type Keys, useKeys } from '../parts/keyboard.ts';
import { KeySheet } from './key-sheet.tsx';
import { NewJob } from './new-job.tsx';
import { Palette } from './palette.tsx';
import { Screens } from './screens.tsx';
import { SideNav } from './side-nav.tsx';
import { nextTheme } from './theme.ts';
import { TopBar } from './top-bar.tsx';
import { usePlaces } from './use-places.ts';

type Opened = 'palette' | 'keys' | 'new-job' | null;

/** The frame around every screen: the menu, the top bar, and the dialogs that keys open. */
export function Shell({ onLogOut }: { onLogOut: () => void }) {
  const [opened, setOpened] = useState<Opened>(null);
  const [path, go] = useLocation();
  const stream = useLiveStream();
  const may = useMay();
  const close = (): void => setOpened(null);
  const newJob = (): void => {
    if (may('submit')) setOpened('new-job');
  };
  const jumps = Object.fromEntries(usePlaces().map(({ key, path }) => [`g ${key}`, () => go(path)]));
  const keys: Keys = {
    ...jumps,
    'ctrl k': () => setOpened('palette'),
    '?': () => setOpened('keys'),
    n: newJob,
    p: () => stream.setPaused(stream.state !== 'paused'),
    t: nextTheme,
    '/': () => focusSearch(() => setOpened('palette')),
  };
  return (
    <div className="shell">
      <FrameKeys keys={keys} />
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <TopBar onSearch={() => setOpened('palette')} onNewJob={newJob} onLogOut={onLogOut} />
      <SideNav onKeys={() => setOpened('keys')} />
      <main id="main" className="main" tabIndex={-1}>
        <Boundary name={path}>
          <Screens onNewJob={newJob} />
        </Boundary>
      </main>
      {opened === 'palette' && <Palette onClose={close} onNewJob={newJob} />}
      {opened === 'keys' && <KeySheet onClose={close} />}
      {opened === 'new-job' && <NewJob onClose={close} />}
    </div>
  );
}

/** A part before the screen, so that its keys come first, and those of the screen go before them. */
function FrameKeys({ keys }: { keys: Keys }) {
  useKeys(keys);
  return null;
}

/** Focuses the search field of the screen, if it has one. */
function focusSearch(otherwise: () => void): void {
  const search = document.querySelector<HTMLElement>('[data-search]');
  if (search === null) otherwise();
  else search.focus();
}
