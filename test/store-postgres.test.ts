import { exerciseStore } from '../src/testing/contract/index.ts';
import { effort } from './effort.ts';
import { openEmptiedPostgres } from './kit/postgres.ts';

exerciseStore('postgres', () => openEmptiedPostgres(), effort);
