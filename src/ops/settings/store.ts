/** Selects the store: `db-url` determines it, `db-driver` may repeat it. */

import type { Driver } from '../../core/driver.ts';
import { SettingsError } from './error.ts';
import type { Settings, StoreChoice } from './settings.ts';

const DEFAULT_SQLITE_FILE = './workron.db';

/** `DATABASE_URL` may be meant for another program: it is used only if it names PostgreSQL and no setting disagrees. */
export function wantsMachineDatabase(settings: Pick<Settings, 'dbUrl' | 'dbDriver' | 'schedulerUrls'>): boolean {
  const { dbUrl, dbDriver, schedulerUrls } = settings;
  if (schedulerUrls.length > 0 || (dbDriver !== null && dbDriver !== 'postgres')) return false;
  return dbUrl !== null && /^postgres(ql)?:/i.test(dbUrl);
}

export function chooseStore(dbUrl: string | null, dbDriver: Driver | null): StoreChoice {
  if (dbUrl === null) return withoutUrl(dbDriver);
  const named = fromUrl(dbUrl);
  if (dbDriver !== null && dbDriver !== named.driver) {
    throw new SettingsError(
      `db-driver ${dbDriver} contradicts db-url, which names ${named.driver}`,
      'leave db-driver out',
    );
  }
  return named;
}

function withoutUrl(driver: Driver | null): StoreChoice {
  if (driver === 'memory') return { driver };
  if (driver === 'postgres') {
    throw new SettingsError('db-driver postgres needs a db-url', '--db-url postgres://user:password@host/database');
  }
  return { driver: 'sqlite', file: DEFAULT_SQLITE_FILE };
}

function fromUrl(url: string): StoreChoice {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(url)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'postgres':
    case 'postgresql':
      return { driver: 'postgres', url };
    case 'memory':
      return { driver: 'memory' };
    case 'sqlite':
    case 'file':
    case undefined: {
      const file = url.replace(/^(sqlite|file):(\/\/)?/i, '');
      if (file === ':memory:') return { driver: 'memory' };
      if (file === '') throw new SettingsError('db-url: expected a file name after sqlite:');
      return { driver: 'sqlite', file };
    }
    default:
      throw new SettingsError(`db-url: unsupported scheme ${scheme}:`, 'postgres://…, sqlite:FILE or memory:');
  }
}
