import { exerciseStore } from './contract/index.ts';
import { openEmptiedPostgres } from './kit/postgres.ts';

exerciseStore('postgres', () => openEmptiedPostgres());
