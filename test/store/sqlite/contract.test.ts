import { exerciseStore } from '../../../contract/exercise-store.ts';
import { effort } from '../../effort.ts';
import { openEmptiedSqlite } from '../../kit/sqlite.ts';
import { checkedAtEnd } from '../../kit/stranded.ts';

exerciseStore('sqlite', () => checkedAtEnd(openEmptiedSqlite()), effort);
