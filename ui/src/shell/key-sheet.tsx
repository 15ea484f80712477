import { Dialog } from '../parts/dialog.tsx';
import { usePlaces } from './use-places.ts';

interface KeyGroup {
  title: string;
  keys: readonly [string, string][];
}

const EVERYWHERE: KeyGroup = {
  title: 'Everywhere',
  keys: [
    ['Ctrl K', 'search, go to, do'],
    ['/', 'search on this screen'],
    ['n', 'new job'],
    ['p', 'pause and resume updates'],
    ['t', 'light and dark'],
    ['?', 'these keys'],
    ['Esc', 'close'],
  ],
};
const ON_SCREENS: readonly KeyGroup[] = [
  {
    title: 'Lists',
    keys: [
      ['j  k', 'next and previous row'],
      ['Enter', 'open it'],
      ['o', 'open it beside the list'],
      ['x', 'select it'],
    ],
  },
  {
    title: 'Log',
    keys: [
      ['f', 'follow'],
      ['w', 'wrap long lines'],
      ['T', 'time of each line'],
      ['G  g g', 'end and start'],
      ['/  n  N', 'search, next and previous match'],
    ],
  },
];

export function KeySheet({ onClose }: { onClose: () => void }) {
  const goTo: KeyGroup = { title: 'Go to', keys: usePlaces().map(({ key, title }) => [`g ${key}`, title]) };
  return (
    <Dialog title="Keys" onClose={onClose} wide>
      <div className="key-groups">
        {[EVERYWHERE, goTo, ...ON_SCREENS].map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <div key={key}>
                  <dt>
                    {key.split(/ {1,2}/).map((part) => (
                      <kbd key={part}>{part}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
