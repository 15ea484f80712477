import { exerciseStore } from '../../../contract/exercise-store.ts';
import { effort } from '../../effort.ts';
import { openEmptiedPostgres } from '../../kit/postgres.ts';

exerciseStore('postgres', () => openEmptiedPostgres(), effort);
