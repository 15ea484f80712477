import { Dialog } from '../parts/dialog.tsx';
import { PLACES } from './places.ts';

const GROUPS: readonly { title: string; keys: readonly [string, string][] }[] = [
  {
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
  },
  { title: 'Go to', keys: PLACES.map(({ key, title }) => [`g ${key}`, title]) },
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
      ['G  g g', 'end and start'],
      ['/  n  N', 'search, next and previous match'],
    ],
  },
];

export function KeySheet({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose} wide>
      <div className="key-groups">
        {GROUPS.map(({ title, keys }) => (
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
