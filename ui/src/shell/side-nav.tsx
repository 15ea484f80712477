import { Link, useLocation } from 'wouter';
import { Icon } from './icon.tsx';
import { PLACES } from './places.ts';

export function SideNav({ onKeys }: { onKeys: () => void }) {
  const [path] = useLocation();
  return (
    <nav className="side-nav" aria-label="Screens">
      <ul>
        {PLACES.map((place) => {
          const here = place.path === '/' ? path === '/' : path === place.path || path.startsWith(`${place.path}/`);
          return (
            <li key={place.path}>
              <Link href={place.path} aria-current={here ? 'page' : undefined} title={`g ${place.key}`}>
                <Icon name={place.icon} />
                {place.title}
              </Link>
            </li>
          );
        })}
      </ul>
      <div className="side-foot">
        <a href="/openapi.json">API document</a>
        <button type="button" className="plain" onClick={onKeys}>
          Keys <kbd>?</kbd>
        </button>
      </div>
    </nav>
  );
}
