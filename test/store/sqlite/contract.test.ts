import { exerciseStore } from '../../../contract/exercise-store.ts';
import { effort } from '../../effort.ts';
import { openEmptiedSqlite } from '../../kit/sqlite.ts';

exerciseStore('sqlite', openEmptiedSqlite, effort);
