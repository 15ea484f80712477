import { type Migration, readMigrations } from '../../migration.ts';

/** Workron's own migrations. The build replaces this module by one that contains them. */
export const MIGRATIONS: readonly Migration[] = readMigrations('sqlite');
