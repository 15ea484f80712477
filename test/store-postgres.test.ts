import { exerciseStore } from './contract/index.ts';
import { openTestPostgres } from './kit/postgres.ts';

exerciseStore('postgres', () => openTestPostgres());
