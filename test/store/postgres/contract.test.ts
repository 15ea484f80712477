import { exerciseStore } from '../../../contract/exercise-store.ts';
import { effort } from '../../effort.ts';
import { openEmptiedPostgres } from '../../kit/postgres.ts';
import { checkedAtEnd } from '../../kit/stranded.ts';

exerciseStore('postgres', () => checkedAtEnd(openEmptiedPostgres()), effort);
