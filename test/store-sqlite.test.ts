import { exerciseStore } from './contract/index.ts';
import { openEmptiedSqlite } from './kit/sqlite.ts';

exerciseStore('sqlite', openEmptiedSqlite);
