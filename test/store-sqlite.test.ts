import { exerciseStore } from './contract/index.ts';
import { openTestSqlite } from './kit/sqlite.ts';

exerciseStore('sqlite', openTestSqlite);
