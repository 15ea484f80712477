import { exerciseStore } from '../src/testing/contract/index.ts';
import { effort } from './effort.ts';
import { openEmptiedSqlite } from './kit/sqlite.ts';

exerciseStore('sqlite', openEmptiedSqlite, effort);
