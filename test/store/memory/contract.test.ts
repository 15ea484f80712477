import { exerciseStore } from '../../../contract/exercise-store.ts';
import { effort } from '../../effort.ts';
import { openTestMemory } from '../../kit/memory.ts';

exerciseStore('memory', openTestMemory, effort);
